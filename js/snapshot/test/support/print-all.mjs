// Runs a job and prints everything that an application can observe: events, progress, warnings, and the result or
// error. A test searches the output for secrets.
import { subscribe } from "node:diagnostics_channel";
import { inspect } from "node:util";

import * as snapshots from "@hedgerow/snapshot";

/** @typedef {import("./job.ts").Job} Job */

const { call, source, target, options } = /** @type {Job} */ (JSON.parse(process.argv[2] ?? ""));

/** @param {string} what @param {unknown} value */
function print(what, value) {
  console.log(what, inspect(value, { depth: 10, showHidden: true, getters: true }));
}

for (const name of ["request", "retry", "connections", "no-ranges"]) {
  subscribe(`hedgerow:snapshot:${name}`, (event) => print(name, event));
}
process.on("warning", (warning) => print("warning", warning));

const all = { ...options, onProgress: (/** @type {unknown} */ now) => print("progress", now) };
try {
  if (call === "createSnapshot") print("made", await snapshots.createSnapshot(source, target, all));
  else if (call === "restoreSnapshot")
    print("restored", await snapshots.restoreSnapshot(source, target, all));
  else print("verified", await snapshots.verifySnapshot(source, all));
} catch (error) {
  print("error", error);
  console.error(error);
}
