/** Validates manifests and messages with the schemas and the types of Kubernetes. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { type GoTool, goTool } from "../../../scripts/lib/go.mjs";
import { kubernetesSchemas } from "../../../scripts/lib/python.mjs";

/** A type that `tests/tools/kubernetes/cmd/kubernetes-types` knows. */
type KubernetesType = "KubeSchedulerConfiguration" | "ExtenderArgs" | "HostPriorityList";

/** The output of kubeconform. */
export interface Validation {
  readonly resources: readonly {
    readonly kind: string;
    readonly name: string;
    readonly status: "statusValid" | "statusInvalid" | "statusError";
    readonly msg: string;
  }[];
}

/** Copies the schemas so that they refer to each other's files, and not to a server. */
export function writeSchemas(folder: string): void {
  mkdirSync(folder);
  const from = kubernetesSchemas();
  for (const name of readdirSync(from)) {
    const { $id: _, ...schema } = JSON.parse(readFileSync(join(from, name), "utf8"));
    const text = JSON.stringify(schema).replaceAll(`"/api/_definitions`, `"_definitions`);
    writeFileSync(join(folder, name), text);
  }
}

/** Validates YAML: no unknown or repeated members, all required ones, and values of the right types. */
export function validate(schemas: string, yaml: string): Validation {
  const location = join(schemas, "{{ .ResourceKind }}{{ .KindSuffix }}.json");
  const args = ["-strict", "-verbose", "-output", "json", "-schema-location", location, "-"];
  return JSON.parse(run("kubeconform", args, yaml, [0, 1]));
}

/**
 * Decodes YAML or JSON strictly into a type of Go, and returns it as Go encodes it.
 *
 * @throws an error with the message of the decoder
 */
export function throughGo(type: KubernetesType, text: string): string {
  return run("kubernetes-types", [type], text, [0]);
}

function run(tool: GoTool, args: readonly string[], input: string, statuses: number[]): string {
  const { status, stdout, stderr, error } = spawnSync(goTool(tool), args, {
    input,
    encoding: "utf8",
  });
  if (statuses.includes(status ?? -1) && stdout !== "") return stdout;
  throw new Error(`${tool}: ${error?.message ?? stderr}`);
}
