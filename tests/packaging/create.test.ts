/** Projects of `npm create hedgerow`, each installed with the packed packages, tested and run. */
import { execFile } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";

import { node24 } from "../../scripts/lib/paths.mjs";
import { startServer } from "../support/processes/serve.js";
import { temporaryFolder } from "../support/snapshots/folder.js";
import { packageFolder, TARBALLS } from "./support/project.js";

const BIN = join(packageFolder("create-hedgerow"), "bin/create-hedgerow.js");

const env = {
  ...process.env,
  // Wrangler needs a newer Node than the oldest that Hedgerow supports.
  PATH: `${dirname(node24)}:${process.env.PATH}`,
  ...{ NEXT_TELEMETRY_DISABLED: "1", WRANGLER_SEND_METRICS: "false", CI: "1", PORT: "0" },
};

/** Longer than an installation of Next.js or wrangler takes. */
const MAX_SECONDS = 600;

const path = temporaryFolder();

/** What `npm start` needs to serve at a free port, and a path that the server has not; or what it prints. */
const STARTS: Readonly<Record<string, { args: string[]; absent?: string; prints?: string }>> = {
  worker: {
    // An origin is not needed. The URL that it prints first must be its own.
    args: ["--", "--ip", "127.0.0.1", "--port", "0", "--var", "ORIGIN:http://origin.invalid"],
    absent: "/wp-login.php",
  },
  next: { args: ["--", "--hostname", "127.0.0.1", "--port", "0"], absent: "/plants/oak" },
  hono: { args: [], absent: "/plants/oak" },
  express: { args: [], absent: "/wp-login.php" },
  fastify: { args: [], absent: "/plants/oak" },
  sandbox: { args: [], prints: "alice: run 1" },
};

test.for(Object.entries(STARTS))("a project of the template %s", async ([template, start]) => {
  const project = join(path(template), "my app");
  mkdirSync(dirname(project));
  const run = async (command: string, ...args: string[]) =>
    (await promisify(execFile)(command, args, { cwd: project, env })).stdout;
  await promisify(execFile)(process.execPath, [BIN, project, "--template", template]);
  await run("npm", "install", "--no-save", "--no-audit", "--no-fund", ...TARBALLS);
  await run("npm", "run", "build", "--if-present");
  expect(await run("npm", "test")).toMatch(/^. pass 1$/m);
  if (start.prints !== undefined) {
    expect(await run("npm", "start", ...start.args)).toContain(start.prints);
  }
  if (start.absent !== undefined) {
    const command = ["npm", "start", ...start.args];
    const server = await startServer(command, { cwd: project, env, maxSeconds: MAX_SECONDS });
    const { status } = await fetch(new URL(start.absent, server.url));
    await server.close();
    expect(status).toBe(404);
  }
});
