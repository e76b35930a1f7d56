/** A layer of more members than a tree may have, which takes a minute to read. */
import { createWriteStream, readdirSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { expect, test } from "vitest";

import { MAX_MEMBERS } from "../../src/image/tree.js";
import { hedgerow } from "../support/bin.js";
import { makeTree } from "../support/tree.js";

const [BLOCK, BATCH, DIGITS] = [512, 10_000, 7];

/** Puts a thousand files in a directory. */
const pathOf = (digits: string) => digits.replace(/...$/, "/$&");

/** Returns the headers of empty files, which are numbered. */
function headers(first: number): Buffer {
  const template = Buffer.alloc(BLOCK);
  for (const [offset, text] of [
    [0, pathOf("0".repeat(DIGITS))],
    [100, "0000644\0"],
    [124, "00000000000\0"],
    [148, " ".repeat(8)],
    [156, "0"],
    [257, "ustar\x0000"],
  ] as const)
    template.write(text, offset, "latin1");
  const sum = template.reduce((all, byte) => all + byte, 0);
  const blocks = Buffer.alloc(BATCH * BLOCK);
  for (let index = 0; index < BATCH; index += 1) {
    const at = index * BLOCK;
    const name = `${first + index}`.padStart(DIGITS, "0");
    const digits = [...name].reduce((all, digit) => all + Number(digit), 0);
    template.copy(blocks, at);
    blocks.write(pathOf(name), at, "latin1");
    blocks.write(`${(sum + digits).toString(8).padStart(6, "0")}\0 `, at + 148, "latin1");
  }
  return blocks;
}

test("refuses a layer of more members than its limit, within its memory", async () => {
  const root = makeTree({ "out/": "" });
  const archive = join(root, "many.tar.gz");
  const members = Readable.from(
    (function* () {
      for (let first = 0; first <= MAX_MEMBERS; first += BATCH) yield headers(first);
    })(),
  );
  await pipeline(members, createGzip({ level: 1 }), createWriteStream(archive));
  const { code, err } = await hedgerow(["image", "create", archive, join(root, "out", "image")]);
  expect(code).toBe(3);
  expect(err).toContain(`at most ${MAX_MEMBERS} members`);
  expect(readdirSync(join(root, "out"))).toEqual([]);
}, 900_000);
