// Slows down reads in workers, so that jobs take seconds on any machine.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { isMainThread } from "node:worker_threads";

/** The delay of each read, in milliseconds. */
const DELAY = Number(process.env.SLOW_DISK_DELAY ?? 10);

const { readSync } = fs;
const nothing = new Int32Array(new SharedArrayBuffer(4));

if (!isMainThread) {
  fs.readSync = (/** @type {any[]} */ ...args) => {
    // Reads without a position are those of Node, which loads modules.
    if (typeof args[4] === "number") Atomics.wait(nothing, 0, 0, DELAY);
    return Reflect.apply(readSync, fs, args);
  };
  syncBuiltinESMExports();
}
