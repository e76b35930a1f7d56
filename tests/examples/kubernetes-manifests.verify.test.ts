/** The manifests of the Kubernetes example, validated as an API server would. */
import { readdirSync, readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";

import { exampleFolder } from "../support/examples/run.js";
import { throughGo, validate, writeSchemas } from "../support/kubernetes/validate.js";
import { temporaryFolder } from "../support/snapshots/folder.js";

const EXAMPLE = exampleFolder("kubernetes");
const FILES = [
  ...readdirSync(`${EXAMPLE}manifests`).map((name) => `manifests/${name}`),
  ...["sandbox.yaml", "disk.yaml"],
];

const path = temporaryFolder();
const schemas = path("schemas");
beforeAll(() => writeSchemas(schemas));

const read = (file: string) => readFileSync(`${EXAMPLE}${file}`, "utf8");

/** Returns a text with one replacement, which must apply. */
function changed(text: string, from: string, to: string): string {
  expect(text).toContain(from);
  return text.replace(from, to);
}

test.for(FILES)("%s is valid", (file) => {
  const { resources } = validate(schemas, read(file));
  expect(resources).not.toEqual([]);
  expect(resources.filter(({ status }) => status !== "statusValid")).toEqual([]);
});

test.each([
  ["a misspelt member", "manifests/agent.yaml", "updateStrategy:", "updateStategy:"],
  ["a value of another type", "manifests/extender.yaml", "replicas: 2", "replicas: two"],
  ["an unknown kind", "manifests/namespace.yaml", "kind: Namespace", "kind: Nomespace"],
])("%s is found", (_, file, from, to) => {
  const { resources } = validate(schemas, changed(read(file), from, to));
  const faults = resources.filter(({ status }) => status !== "statusValid");
  expect(faults.length).toBe(1);
});

test("the configuration of the scheduler has the extender as Kubernetes' own types decode it", () => {
  const config = JSON.parse(throughGo("KubeSchedulerConfiguration", read("scheduler.config.yaml")));
  expect(config).toMatchObject({
    apiVersion: "kubescheduler.config.k8s.io/v1",
    kind: "KubeSchedulerConfiguration",
    percentageOfNodesToScore: 100,
    extenders: [
      {
        urlPrefix: "http://extender.hedgerow.svc:8080",
        prioritizeVerb: "prioritize",
        nodeCacheCapable: true,
        ignorable: true,
      },
    ],
  });
});

test("a misspelt member of the scheduler's configuration is found", () => {
  const wrong = changed(read("scheduler.config.yaml"), "ignorable: true", "ignorible: true");
  expect(() => throughGo("KubeSchedulerConfiguration", wrong)).toThrow("kubernetes-types");
});

test("no container of the agent or the extender is more privileged than it needs to be", () => {
  for (const file of ["manifests/agent.yaml", "manifests/extender.yaml"]) {
    const text = read(file);
    expect(text).not.toMatch(
      /privileged: true|hostNetwork|hostPID|automountServiceAccountToken: true/,
    );
    const count = (pattern: RegExp) => text.match(pattern)?.length;
    const containers = count(/^ +image: /gm);
    expect(count(/drop: \["ALL"\]/g)).toBe(containers);
    expect(count(/allowPrivilegeEscalation: false/g)).toBe(containers);
    expect(count(/readOnlyRootFilesystem: true/g)).toBe(containers);
  }
});
