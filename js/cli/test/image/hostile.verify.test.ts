/** A layer of ten million members, which takes a minute to read. */
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

test("refuses a layer of ten million members, within its memory", async () => {
  const root = makeTree({ "out/": "" });
  const archive = join(root, "many.tar.gz");
  const batch = 10_000;
  const members = Readable.from(
    (function* () {
      let bytes: Buffer = Buffer.alloc(0);
      for (let first = 0; first < 10_000_000; first += batch) {
        // Beyond the limit, the names repeat, because they take long to write.
        if (first <= MAX_MEMBERS) {
          const paths = Array.from({ length: batch }, (_, index) => ({
            path: `d/${first + index}`,
          }));
          bytes = tarOf(paths).subarray(0, -1024);
        }
        yield bytes;
      }
    })(),
  );
  await pipeline(members, createGzip({ level: 1 }), createWriteStream(archive));
  const { code, err } = await hedgerow(["image", "create", archive, join(root, "out", "image")]);
  expect(code).toBe(3);
  expect(err).toContain(`at most ${MAX_MEMBERS} members`);
  expect(readdirSync(join(root, "out"))).toEqual([]);
}, 900_000);
