// Runs programs in workerd directly, because Miniflare does not offer every version of it on every version of Node.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { bundle, PROGRAM_TIMEOUT } from "../bundle.mjs";

/**
 * Bundles a program like Wrangler, with WebAssembly modules as separate files.
 *
 * @param {import("../bundle.mjs").Program} program
 */
export const bundleWorker = (program) =>
  bundle("workerd", program, {
    conditions: ["workerd", "worker", "browser"],
    loader: { ".wasm": "copy" },
    assetNames: "[name]",
  });

/**
 * Runs a program in workerd with a compatibility date.
 *
 * @param {string} workerd path of the executable
 * @param {string} date
 * @param {import("../bundle.mjs").Program} program
 * @returns {Promise<import("../bundle.mjs").Outcome[]>}
 */
export async function runInWorkerd(workerd, date, program) {
  const { files } = await bundleWorker(program);
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-workerd-"));
  for (const { name, contents } of files) writeFileSync(join(folder, name), contents);
  const names = files.map(({ name }) => name);
  writeFileSync(join(folder, "config.capnp"), configOf(`${program}.js`, names, date));
  const child = spawn(workerd, ["serve", "config.capnp", "--control-fd=3"], {
    cwd: folder,
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("close", resolve));
  try {
    const port = await portOf(child);
    const signal = AbortSignal.timeout(PROGRAM_TIMEOUT);
    const response = await fetch(`http://127.0.0.1:${port}/`, { signal });
    if (!response.ok) throw new Error(`workerd: ${response.status}, ${await response.text()}`);
    return /** @type {import("../bundle.mjs").Outcome[]} */ (await response.json());
  } finally {
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true });
  }
}

/**
 * Returns the configuration of a worker that listens on a free loopback port.
 *
 * @param {string} main
 * @param {string[]} files
 * @param {string} date
 */
function configOf(main, files, date) {
  const rest = files.filter((name) => name !== main);
  const modules = [main, ...rest].map((name) => {
    const type = name.endsWith(".wasm") ? "wasm" : "esModule";
    return `(name = "${name}", ${type} = embed "${name}")`;
  });
  return `
    using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [(name = "main", worker = .worker)],
      sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")]
    );
    const worker :Workerd.Worker = (
      modules = [${modules.join(", ")}],
      compatibilityDate = "${date}"
    );`;
}

/** Returns the port on which workerd reports to listen. @param {import("node:child_process").ChildProcess} child */
async function portOf(child) {
  const control = /** @type {import("node:stream").Readable} */ (child.stdio[3]);
  for await (const line of createInterface({ input: control })) {
    const { event, port } = JSON.parse(line);
    if (event === "listen") return port;
  }
  throw new Error("workerd exited before it listened; see its output");
}
