// Makes a worker exit when it first reads a file.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { isMainThread } from "node:worker_threads";

const { readSync } = fs;

if (!isMainThread) {
  fs.readSync = (/** @type {any[]} */ ...args) => {
    // Reads without a position are those of Node, which loads modules.
    if (typeof args[4] !== "number") return Reflect.apply(readSync, fs, args);
    return process.exit(7);
  };
  syncBuiltinESMExports();
}
