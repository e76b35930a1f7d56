// Restores a compressed image with Node’s own `fetch` and zstd: `fetch-zlib.mjs URL IMAGE [holes]`. With `holes`, zeros
// are not written.
import { createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import * as zlib from "node:zlib";

/** Zstd of Node 22.15 and later, missing in the types of Node 20. */
const { createZstdDecompress } =
  /** @type {{ createZstdDecompress(options?: { chunkSize?: number }): import("node:stream").Transform }} */ (
    /** @type {unknown} */ (zlib)
  );

/** The unit in which zeros are skipped: as much as zstd decodes at a time. */
const CHUNK = 2 ** 17;

const [, , url = "", path = "", holes] = process.argv;
const { ok, status, body } = await fetch(url);
if (!ok || body === null) throw new Error(`GET ${url} failed (HTTP ${status})`);
const source = Readable.fromWeb(/** @type {import("node:stream/web").ReadableStream} */ (body));
if (holes === undefined) {
  await pipeline(source, createZstdDecompress(), createWriteStream(path));
} else {
  await pipeline(source, createZstdDecompress({ chunkSize: CHUNK }), await sparseWriter());
}

/** Returns a stream that writes the chunks that are not all zeros. */
async function sparseWriter() {
  const file = await open(path, "w");
  const zeros = Buffer.alloc(CHUNK);
  let position = 0;
  return new Writable({
    highWaterMark: 8 * CHUNK,
    async write(/** @type {Buffer} */ chunk, _, done) {
      const start = position;
      position += chunk.length;
      try {
        const isHole = chunk.equals(zeros.subarray(0, chunk.length));
        if (!isHole) await file.write(chunk, 0, chunk.length, start);
        done();
      } catch (error) {
        done(/** @type {Error} */ (error));
      }
    },
    final(done) {
      // The file may end with a hole.
      file
        .truncate(position)
        .then(() => file.close())
        .then(() => done(), done);
    },
  });
}
