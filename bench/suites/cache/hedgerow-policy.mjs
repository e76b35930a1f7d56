// Hedgerow’s cache, filled without snapshots: decoding them would take hours per trace.
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { openComponents } from "../../../js/snapshot/dist/cache/components.js";
import { MARGIN } from "../../../js/snapshot/dist/cache/eviction.js";
import { makeRecord, recordLength } from "../../../js/snapshot/dist/cache/record.js";
import { NO_EVICTION } from "./suite.mjs";

/** @typedef {import("../../../js/snapshot/dist/format/manifest.js").Manifest} Manifest */

/** A source that is never read. */
const SOURCE = "/nowhere.vhs";

/** The block size of a disk, in bytes. */
const BLOCK = 4096;

export class HedgerowPolicy {
  #cache;
  #images;
  /** The content of every image. */
  #bytes;

  /**
   * @param {import("../../../js/snapshot/dist/cache/components.js").CacheComponents} cache
   * @param {number[]} sizes of images, in bytes
   */
  constructor(cache, sizes) {
    this.#cache = cache;
    this.#images = sizes.map(manifestOf);
    this.#bytes = Buffer.alloc(Math.max(...sizes), 1);
  }

  /**
   * Opens an empty cache for `maxBytes` of images; its own files are not counted.
   *
   * @param {string} directory
   * @param {number} maxBytes
   * @param {number[]} sizes
   */
  static async open(directory, maxBytes, sizes) {
    const empty = await openComponents(directory, { maxBytes: NO_EVICTION });
    const { bytes } = await empty.store.inventory();
    await empty.close();
    const cache = await openComponents(directory, { maxBytes: maxBytes + bytes + MARGIN });
    return new HedgerowPolicy(cache, sizes);
  }

  /** Gets an image by its number. Returns whether it was a hit. @param {number} index */
  async get(index) {
    const { store, writer } = this.#cache;
    const manifest = /** @type {Manifest} */ (this.#images[index]);
    const { digest, imageSize } = manifest.info;
    const lease = await store.take(digest);
    if (lease !== undefined) {
      await store.release(lease);
      return true;
    }
    const reserved = await writer.reserve(manifest, recordLength(manifest, SOURCE));
    const { file } = reserved;
    try {
      await file.write(this.#bytes, 0, imageSize, 0);
      const record = await makeRecord(manifest, SOURCE, file);
      await store.release(await writer.publish(digest, reserved, record));
    } finally {
      await file.close();
    }
    return false;
  }

  async close() {
    await this.#cache.close();
    rmSync(this.#cache.layout.directory, { recursive: true });
  }
}

/** Returns the bytes of an image on the disk, with its record. @param {number} size */
export function bytesOnDisk(size) {
  return Math.ceil(size / BLOCK) * BLOCK + BLOCK;
}

/** Returns the manifest of an image without frames. @param {number} size @param {number} index */
function manifestOf(size, index) {
  const info = {
    digest: createHash("sha256").update(`${index}`).digest("hex"),
    imageSize: size,
    dataSize: size,
    holeSize: 0,
    fileSize: size,
    pieceSize: 2 ** 20,
    dataFrames: 0,
    holeFrames: 0,
  };
  const frames = /** @type {Manifest["frames"]} */ (/** @type {unknown} */ ({ count: 0 }));
  return /** @type {Manifest} */ ({ info, frames, tail: new Uint8Array() });
}
