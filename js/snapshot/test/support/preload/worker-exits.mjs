// A thread that is gone when it reads a file for the first time.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { isMainThread } from "node:worker_threads";

const { readSync } = fs;

if (!isMainThread) {
  fs.readSync = (/** @type {any[]} */ ...args) => {
    // Node itself reads modules, from wherever it is in them.
    if (typeof args[4] !== "number") return Reflect.apply(readSync, fs, args);
    return process.exit(7);
  };
  syncBuiltinESMExports();
}
