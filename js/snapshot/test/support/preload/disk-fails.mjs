// Makes every read of a file in a worker fail.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { isMainThread } from "node:worker_threads";

const { readSync } = fs;

if (!isMainThread) {
  fs.readSync = (/** @type {any[]} */ ...args) => {
    // Reads without a position are those of Node, which loads modules.
    if (typeof args[4] !== "number") return Reflect.apply(readSync, fs, args);
    const message = "EIO: i/o error, read";
    throw Object.assign(new Error(message), { errno: -5, code: "EIO", syscall: "read" });
  };
  syncBuiltinESMExports();
}
