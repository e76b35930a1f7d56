// Entry of the processes that `together.mjs` starts: `call.mjs CALLS`. Calls one function in this process; starts a
// process for each of several. No module imports it, so the functions may import any module.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { pathToFileURL } from "node:url";

import { inRoot } from "./paths.mjs";
import { main } from "./run.mjs";

/** @typedef {import("./together.mjs").Call} Call */

/** @param {Call} call */
async function callApart(call) {
  const args = [inRoot("scripts", "lib", "call.mjs"), JSON.stringify([call])];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
  const [code] = await once(child, "exit");
  return code === 0;
}

/** @param {Call} call */
async function callHere([module, name]) {
  const { [name]: action } = await import(pathToFileURL(inRoot("scripts", module)).href);
  await action();
}

/** @type {Call[]} */
const calls = JSON.parse(process.argv[2] ?? "");
const [first] = calls;
if (first !== undefined && calls.length === 1) {
  await main(() => callHere(first));
} else {
  const ended = await Promise.all(calls.map(callApart));
  process.exitCode = ended.every(Boolean) ? 0 : 1;
}
