/** Creates projects with `npm create hedgerow`, installs the packed packages in each, and tests and runs it. */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "vitest";

import { node24 } from "../../../scripts/lib/paths.mjs";
import { startServer } from "../../support/processes/serve.js";
import { packageFolder, TEST_TIMEOUT } from "./project.js";

const BIN = join(packageFolder("create-hedgerow"), "bin/create-hedgerow.js");

const env = {
  ...process.env,
  // Wrangler needs a newer Node than the oldest that Hedgerow supports.
  PATH: `${dirname(node24)}:${process.env.PATH}`,
  ...{ NEXT_TELEMETRY_DISABLED: "1", WRANGLER_SEND_METRICS: "false", CI: "1", PORT: "0" },
};

/** What `npm start` needs to serve at a free port, and a path that the server has not; or what it prints. */
export interface Start {
  readonly args?: readonly string[];
  readonly absent?: string;
  readonly prints?: string;
}

/** Asserts that a new project of a template installs these tarballs, builds, passes its test, and starts. */
export async function expectProject(
  project: string,
  template: string,
  tarballs: readonly string[],
  { args = [], absent, prints }: Start,
): Promise<void> {
  mkdirSync(dirname(project));
  const run = async (command: string, ...args: string[]) =>
    (await promisify(execFile)(command, args, { cwd: project, env })).stdout;
  await promisify(execFile)(process.execPath, [BIN, project, "--template", template]);
  await run("npm", "install", "--no-save", "--no-audit", "--no-fund", ...tarballs);
  await run("npm", "run", "build", "--if-present");
  expect(await run("npm", "test")).toMatch(/^. pass 1$/m);
  if (prints !== undefined) expect(await run("npm", "start", ...args)).toContain(prints);
  if (absent === undefined) return;
  const command = ["npm", "start", ...args];
  const server = await startServer(command, {
    ...{ cwd: project, env, maxSeconds: TEST_TIMEOUT / 1000 },
  });
  const { status } = await fetch(new URL(absent, server.url));
  await server.close();
  expect(status).toBe(404);
}
