import type { FileHandle } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

import { SnapshotError } from "../error.js";
import { Turns } from "../turns.js";
import { libc } from "./libc.js";
import { lockFile } from "./lock-private-file.js";

/** How long to wait for another process, which holds a lock for milliseconds, and the mean pause between attempts, in milliseconds. */
const [TIMEOUT, INTERVAL] = [30_000, 2];

/** A file that processes lock while they change what it protects. It is created if it is missing. */
export class FileLock {
  readonly #turns = new Turns();

  constructor(private readonly path: string) {}

  /**
   * Runs an action while no other process, and no other call, has locked the file.
   *
   * @throws {SnapshotError} `ERR_TARGET` if another process has locked it for 30 seconds, and what `action` throws
   */
  run<T>(action: (file: FileHandle) => Promise<T>): Promise<T> {
    return this.#turns.run(async () => {
      const file = await lock(this.path);
      try {
        return await action(file);
      } finally {
        await file.close();
      }
    });
  }
}

async function lock(path: string): Promise<FileHandle> {
  for (const end = performance.now() + TIMEOUT; performance.now() < end; ) {
    const file = await lockFile(path);
    if (file !== undefined) return file;
    if ((await libc()) === undefined) {
      const message = `${path}: locks need Linux and the optional package koffi`;
      throw new SnapshotError("ERR_TARGET", message);
    }
    await sleep(INTERVAL * (0.5 + Math.random()));
  }
  const message = `${path}: another process has locked it for ${TIMEOUT / 1000} seconds`;
  throw new SnapshotError("ERR_TARGET", message);
}
