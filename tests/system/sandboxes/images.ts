/** Disks of sandboxes: ext4 images, to which the sandboxes then write. */
import { createHash } from "node:crypto";
import {
  closeSync,
  createReadStream,
  openSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { pipeline } from "node:stream/promises";

import { checkExt4Image, makeExt4Image } from "../../../scripts/lib/file-systems.mjs";
import { attempt } from "../../../scripts/lib/run.mjs";
import { noise } from "../../support/snapshots/image.js";
import type { Choices } from "../random.js";

const MIB = 2 ** 20;
const IMAGE_BYTES = 32 * MIB;

/** Bytes of installed files in the first base image, and the increment for each further one. */
const [DATA_BYTES, DATA_INCREMENT] = [4e6, 1e6];

/** Incompressible bytes in each base image, which make its snapshot large enough for a multipart upload. */
const NOISE_BYTES = 5 * MIB;

/** Makes a base image. */
export function makeBase(path: string, number: number): void {
  makeExt4Image(path, { imageBytes: IMAGE_BYTES, dataBytes: DATA_BYTES + number * DATA_INCREMENT });
  writeFile(path, "noise", noise(`base ${number}`, NOISE_BYTES));
  checkExt4Image(path);
}

/** How a sandbox writes to its disk. */
export const WRITES = ["disk: files", "disk: bytes"] as const;

/** Writes to a disk at random. */
export function writeTo(image: string, how: (typeof WRITES)[number], choices: Choices): void {
  if (how === "disk: files") writeFiles(image, choices);
  else writeBytes(image, choices);
}

/** Writes files into the file system, and checks that it is consistent. */
function writeFiles(image: string, choices: Choices): void {
  for (let count = 1 + choices.below(3); count > 0; count -= 1) {
    const name = `sandbox-${choices.below(1e9)}`;
    writeFile(image, name, noise(name, choices.below(MIB)));
  }
  checkExt4Image(image);
}

/** Writes a file to the root directory of a file system. */
function writeFile(image: string, name: string, bytes: Buffer): void {
  const file = `${image}.${name}`;
  writeFileSync(file, bytes);
  try {
    const args = ["-w", "-R", `write ${file} ${name}`, image];
    const { status, errors } = attempt("debugfs", args, { stdout: "pipe" });
    if (status !== 0) throw new Error(`debugfs: ${errors}`);
  } finally {
    rmSync(file);
  }
}

/** Overwrites bytes at random offsets, in data and holes alike. */
function writeBytes(image: string, choices: Choices): void {
  const { size } = statSync(image);
  const file = openSync(image, "r+");
  try {
    for (let count = 1 + choices.below(20); count > 0; count -= 1) {
      const bytes = noise(`${choices.below(1e9)}`, 1 + choices.below(100_000));
      writeSync(file, bytes, 0, bytes.length, choices.below(size - bytes.length));
    }
  } finally {
    closeSync(file);
  }
}

/** Returns the SHA-256 of a file. */
export async function sumOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path, { highWaterMark: MIB }), hash);
  return hash.digest("hex");
}
