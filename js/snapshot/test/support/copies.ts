/** Makes and checks copies of sparse images. */
import { closeSync, mkdirSync, openSync, readdirSync, statSync, writeSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect } from "vitest";

import { bytesOnDisk, noise, writeSparse } from "../../../../tests/support/snapshots/image.js";
import type { AtomicWriteOptions } from "../../src/local/atomic-write.js";
import { copyImage } from "../../src/local/copy-image.js";
import { expectSameFiles } from "./compare.js";

const KIB = 2 ** 10;

let folders = 0;

/** Makes an empty folder and returns its path. */
export function emptyFolder(path: (name: string) => string): string {
  folders += 1;
  const folder = path(`folder-${folders}`);
  mkdirSync(folder);
  return folder;
}

/** Copies a file. Pass `size` to give the image another size than the file has. */
export async function copy(
  source: string,
  target: string,
  { size = statSync(source).size, ...options }: AtomicWriteOptions & { size?: number } = {},
) {
  const file = await open(source, "r");
  try {
    const image = { fd: file.fd, size, name: source };
    return await copyImage(image, target, { isDurable: false, ...options });
  } finally {
    await file.close();
  }
}

/** Throws unless a copy is equal to its source, takes no more of the disk, and is private. */
export async function expectCopy(source: string, target: string): Promise<void> {
  await expectSameFiles(source, target);
  expect(bytesOnDisk(target)).toBeLessThanOrEqual(bytesOnDisk(source) + 64 * KIB);
  expect(statSync(target).mode & 0o777).toBe(0o600);
}

/** Writes an image of `size` bytes with noise in each stretch. */
export function writeImage(
  target: string,
  size: number,
  stretches: Iterable<readonly [number, number]>,
): void {
  writeSparse(target, size, [], () => Buffer.alloc(0));
  const file = openSync(target, "r+");
  for (const [start, end] of stretches) {
    writeSync(file, noise(`${start}`, Math.min(end, size) - start), 0, undefined, start);
  }
  closeSync(file);
}

/** Waits until something was written to the unfinished file in a folder. Returns its path. */
export async function begun(folder: string): Promise<string> {
  for (;;) {
    const [name] = readdirSync(folder);
    if (name !== undefined && bytesOnDisk(join(folder, name)) > 0) return join(folder, name);
    await setImmediate();
  }
}
