/** A layer of more members than a tree may have, which takes a minute to read. */
import { createWriteStream, readdirSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { expect, test } from "vitest";

import { MAX_MEMBERS } from "../../src/image/tree.js";
import { hedgerow } from "../support/bin.js";
import { tarOf } from "../support/layers.js";
import { makeTree } from "../support/tree.js";

const BATCH = 10_000;

test("refuses a layer of more members than its limit, within its memory", async () => {
  const root = makeTree({ "out/": "" });
  const archive = join(root, "many.tar.gz");
  const members = Readable.from(
    (function* () {
      for (let first = 0; first <= MAX_MEMBERS; first += BATCH) {
        const paths = Array.from({ length: BATCH }, (_, index) => ({ path: `d/${first + index}` }));
        yield tarOf(paths).subarray(0, -1024);
      }
    })(),
  );
  await pipeline(members, createGzip({ level: 1 }), createWriteStream(archive));
  const { code, err } = await hedgerow(["image", "create", archive, join(root, "out", "image")]);
  expect(code).toBe(3);
  expect(err).toContain(`at most ${MAX_MEMBERS} members`);
  expect(readdirSync(join(root, "out"))).toEqual([]);
}, 900_000);
