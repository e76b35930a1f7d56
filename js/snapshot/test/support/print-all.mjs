// Runs the job of each line of standard input, and prints everything that an application can observe: events, progress,
// warnings, and the result or error. A test searches the output for secrets.
import { subscribe } from "node:diagnostics_channel";
import { createInterface } from "node:readline";
import { setImmediate } from "node:timers/promises";
import { inspect } from "node:util";

import * as snapshots from "@hedgerow/snapshot";

import { END } from "./print-end.mjs";

/** @typedef {import("./job.ts").Job} Job */

/** @param {string} what @param {unknown} value */
function print(what, value) {
  console.log(what, inspect(value, { depth: 10, showHidden: true, getters: true }));
}

for (const name of ["request", "retry", "connections", "no-ranges"]) {
  subscribe(`hedgerow:snapshot:${name}`, (event) => print(name, event));
}
process.on("warning", (warning) => print("warning", warning));

/** @param {Job} job */
async function perform({ call, source, target, options }) {
  const all = { ...options, onProgress: (/** @type {unknown} */ now) => print("progress", now) };
  try {
    if (call === "createSnapshot")
      print("made", await snapshots.createSnapshot(source, target, all));
    else if (call === "restoreSnapshot")
      print("restored", await snapshots.restoreSnapshot(source, target, all));
    else print("verified", await snapshots.verifySnapshot(source, all));
  } catch (error) {
    print("error", error);
    console.error(error);
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  await perform(JSON.parse(line));
  // Warnings are reported a little later.
  await setImmediate();
  console.log(END);
  console.error(END);
}
