/** A project of each template of `npm create hedgerow`, installed with all packed packages, tested and run. */

import { execFile, execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { node24 } from "../../scripts/lib/paths.mjs";
import { startServer } from "../support/processes/serve.js";
import { temporaryFolder } from "../support/snapshots/folder.js";
import { minutes } from "../support/trials.js";
import { packageFolder, TARBALLS, TEST_TIMEOUT } from "./support/project.js";

const path = temporaryFolder();

const STARTS: Readonly<Record<string, Start>> = {
  worker: {
    // An origin is not needed. The URL that it prints first must be its own.
    args: ["--", "--ip", "127.0.0.1", "--port", "0", "--var", "ORIGIN:http://origin.invalid"],
    absent: "/wp-login.php",
  },
  hono: { absent: "/plants/oak" },
  next: { args: ["--", "--hostname", "127.0.0.1", "--port", "0"], absent: "/plants/oak" },
  express: { absent: "/wp-login.php" },
  fastify: { absent: "/plants/oak" },
  sandbox: { types: "echo from the machine\n", prints: "from the machine" },
};

// npm installs hundreds of packages, and Next.js builds.
test.for(Object.entries(STARTS))(
  "a project of the template %s",
  minutes({ all: 5 }),
  ([template, start]) => expectProject(join(path(template), "my app"), template, TARBALLS, start),
);

const BIN = join(packageFolder("create-hedgerow"), "bin/create-hedgerow.js");

const env = {
  ...process.env,
  // Wrangler needs a newer Node than the oldest that Hedgerow supports.
  PATH: `${dirname(node24)}:${process.env.PATH}`,
  // A machine with KVM does not boot everywhere that has /dev/kvm.
  SANDBOX_ACCELERATOR: "tcg",
  ...{ NEXT_TELEMETRY_DISABLED: "1", WRANGLER_SEND_METRICS: "false", CI: "1", PORT: "0" },
};

/** What `npm start` needs to serve at a free port, and a path that the server has not; or what it reads and prints. */
interface Start {
  readonly args?: readonly string[];
  readonly absent?: string;
  readonly types?: string;
  readonly prints?: string;
}

/** Asserts that a new project of a template installs these tarballs, builds, passes its test, and starts. */
async function expectProject(
  project: string,
  template: string,
  tarballs: readonly string[],
  { args = [], absent, types, prints }: Start,
): Promise<void> {
  mkdirSync(dirname(project));
  const run = async (command: string, ...args: string[]) => {
    const failed = (error: { message: string; stdout: string }) => {
      throw new Error(`${error.message}\n${error.stdout}`);
    };
    return (await promisify(execFile)(command, args, { cwd: project, env }).catch(failed)).stdout;
  };
  await promisify(execFile)(process.execPath, [BIN, project, "--template", template]);
  await run("npm", "install", "--no-save", "--no-audit", "--no-fund", ...tarballs);
  await run("npm", "run", "build", "--if-present");
  expect(await run("npm", "test")).toMatch(/^. pass 1$/m);
  if (prints !== undefined) {
    const options = { cwd: project, env, input: types, encoding: "utf8" } as const;
    expect(execFileSync("npm", ["start", ...args], options)).toContain(prints);
  }
  if (absent === undefined) return;
  const command = ["npm", "start", ...args];
  const server = await startServer(command, {
    ...{ cwd: project, env, maxSeconds: TEST_TIMEOUT / 1000 },
  });
  const { status } = await fetch(new URL(absent, server.url));
  await server.close();
  expect(status).toBe(404);
}
