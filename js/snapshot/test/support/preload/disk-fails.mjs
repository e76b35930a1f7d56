// A disk that cannot be read where threads read it.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { isMainThread } from "node:worker_threads";

const { readSync } = fs;

if (!isMainThread) {
  fs.readSync = (/** @type {any[]} */ ...args) => {
    // Node itself reads modules, from wherever it is in them.
    if (typeof args[4] !== "number") return Reflect.apply(readSync, fs, args);
    const message = "EIO: i/o error, read";
    throw Object.assign(new Error(message), { errno: -5, code: "EIO", syscall: "read" });
  };
  syncBuiltinESMExports();
}
