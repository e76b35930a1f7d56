// Does one thing with a snapshot, and tells all that there is to tell: events, progress, warnings, and what it
// ends with. What is secret is looked for in that.
import { subscribe } from "node:diagnostics_channel";
import { inspect } from "node:util";

import * as snapshots from "@hedgerow/snapshot";

/** @typedef {import("./job.ts").Job} Job */

const { call, source, target, options } = /** @type {Job} */ (JSON.parse(process.argv[2] ?? ""));

/** @param {string} what @param {unknown} value */
function show(what, value) {
  console.log(what, inspect(value, { depth: 10, showHidden: true, getters: true }));
}

for (const name of ["request", "retry", "connections", "no-ranges"]) {
  subscribe(`hedgerow:snapshot:${name}`, (event) => show(name, event));
}
process.on("warning", (warning) => show("warning", warning));

const all = { ...options, onProgress: (/** @type {unknown} */ now) => show("progress", now) };
try {
  if (call === "createSnapshot") show("made", await snapshots.createSnapshot(source, target, all));
  else if (call === "restoreSnapshot")
    show("restored", await snapshots.restoreSnapshot(source, target, all));
  else show("verified", await snapshots.verifySnapshot(source, all));
} catch (error) {
  show("error", error);
  console.error(error);
}
