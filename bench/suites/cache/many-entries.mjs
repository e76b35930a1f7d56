// Makes caches of many images: the same image under different digests.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { Layout } from "../../../js/snapshot/dist/cache/directory/layout.js";
import { createSnapshot, ImageCache } from "../../../js/snapshot/dist/index.js";
import { NO_EVICTION } from "./plan.mjs";

/** A block of a disk. */
const IMAGE = Buffer.alloc(4096, 1);

const SUM_LENGTH = 32;

/**
 * Makes a cache of `count` images and returns their digests. The files are copies of those of one fill: ten thousand fills
 * would take minutes.
 *
 * @param {string} directory
 * @param {number} count
 */
export async function makeEntries(directory, count) {
  const [image, snapshot] = [`${directory}.img`, `${directory}.vhs`];
  writeFileSync(image, IMAGE);
  const { digest } = await createSnapshot(image, snapshot);
  const cache = await ImageCache.open(directory, { maxBytes: NO_EVICTION });
  await (await cache.get(snapshot, { digest })).release();
  await cache.close();
  const layout = new Layout(directory);
  const record = readFileSync(layout.record(digest));
  const others = Array.from({ length: count - 1 }, (_, index) =>
    sha256(`${index}`).toString("hex"),
  );
  for (const other of others) {
    writeFileSync(layout.image(other), IMAGE, { mode: 0o400 });
    writeFileSync(layout.record(other), renamed(record, digest, other), { mode: 0o600 });
  }
  return [digest, ...others];
}

/** Returns the record of an image with another digest. @param {Buffer} record @param {string} from @param {string} to */
function renamed(record, from, to) {
  const bytes = Buffer.from(record.subarray(0, -SUM_LENGTH));
  bytes.write(to, bytes.indexOf(from), "latin1");
  return Buffer.concat([bytes, sha256(bytes)]);
}

/** @param {string | Buffer} bytes */
function sha256(bytes) {
  return createHash("sha256").update(bytes).digest();
}
