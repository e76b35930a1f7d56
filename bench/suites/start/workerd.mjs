// Times workerd from outside, from its start to the first response: clocks stand still within.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { bundle, COMPATIBILITY_DATE } from "../../../scripts/lib/worker.mjs";
import { FILES, moduleOf } from "./subjects.mjs";

/** Names of module types in the configuration of workerd. */
const TYPES = { ESModule: "esModule", CompiledWasm: "wasm" };

/**
 * Writes a worker that uses a package and then responds, and its configuration. Returns the path of the configuration.
 *
 * @param {import("./subjects.mjs").Subject} subject
 * @param {string} input the folder of the input
 * @param {string} folder for the files; it is created
 */
export async function writeWorker(subject, input, folder) {
  mkdirSync(folder);
  const modules = await bundle(moduleOf(subject));
  for (const { path, contents } of modules) writeFileSync(join(folder, path), contents);
  for (const file of Object.values(FILES)) copyFileSync(join(input, file), join(folder, file));
  writeFileSync(join(folder, "worker.js"), code(modules[0]?.path ?? ""));
  const embedded = [
    ["worker.js", "esModule"],
    ...modules.map(({ path, type }) => [path, TYPES[type]]),
    [FILES.filter, "data"],
    [FILES.rest, "json"],
  ];
  const config = join(folder, "workerd.capnp");
  const lines = embedded.map(([name, type]) => `(name = "${name}", ${type} = embed "${name}")`);
  writeFileSync(config, configuration(lines));
  return config;
}

/** @param {string} used */
const code = (used) => `
import { use } from "./${used}";
import filter from "./${FILES.filter}";
import rest from "./${FILES.rest}";
export default {
  async fetch() {
    return new Response(String(await use({ ...rest, filter: new Uint8Array(filter) })));
  },
};
`;

/** @param {string[]} modules */
const configuration = (modules) => `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [${modules.join(", ")}],
  compatibilityDate = "${COMPATIBILITY_DATE}",
);
`;

/**
 * Returns the milliseconds from the start of workerd to the first response.
 *
 * @param {string} workerd
 * @param {string} config
 */
export async function timeFirstResponse(workerd, config) {
  const begin = performance.now();
  // workerd reports its port on the control channel.
  const child = spawn(workerd, ["serve", config, "--control-fd=3"], {
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  const exit = once(child, "exit");
  const channel = /** @type {import("node:stream").Readable} */ (child.stdio[3]);
  const line = once(createInterface(channel), "line");
  try {
    const [listening] = await Promise.race([line, exit.then(() => ["{}"])]);
    const { port } = JSON.parse(listening);
    if (port === undefined) throw new Error("workerd ended before it listened");
    const response = await fetch(`http://127.0.0.1:${port}/`);
    const result = await response.text();
    const elapsed = performance.now() - begin;
    if (result !== "true") throw new Error(`${config}: expected true, found ${result}`);
    return elapsed;
  } finally {
    child.kill("SIGKILL");
    await exit;
  }
}
