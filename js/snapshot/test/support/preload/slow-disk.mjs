// A disk that takes its time where threads read it: what they do goes on for seconds on any machine.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { isMainThread } from "node:worker_threads";

/** How long each piece takes, in milliseconds. */
const DELAY = 10;

const { readSync } = fs;
const nothing = new Int32Array(new SharedArrayBuffer(4));

if (!isMainThread) {
  fs.readSync = (/** @type {any[]} */ ...args) => {
    // Node itself reads modules, from wherever it is in them.
    if (typeof args[4] === "number") Atomics.wait(nothing, 0, 0, DELAY);
    return Reflect.apply(readSync, fs, args);
  };
  syncBuiltinESMExports();
}
