// The images of a node: filled once at a time, and by few nodes at a time.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fillLease } from "@hedgerow/fleet";
import { SnapshotError } from "@hedgerow/snapshot";

import { RequestError } from "../http.mjs";

/** The statuses of errors that are not the node's own. @type {Record<string, number>} */
const STATUSES = {
  ERR_ARGUMENT: 400,
  ERR_SOURCE: 502,
  ERR_SOURCE_CHANGED: 502,
  ERR_SNAPSHOT_FORMAT: 502,
  ERR_SNAPSHOT_DIGEST: 502,
  ERR_CACHE_SIZE: 507,
};

/** The message of the cache has a path of the node. @param {string | undefined} copyTo */
const exists = (copyTo) =>
  new RequestError(409, "ERR_TARGET", `copyTo: ${copyTo} exists, or cannot be written`);

export class NodeImages {
  #cache;
  #copies;
  #lease;
  #signal;
  /** The requests that are running. @type {Set<Promise<unknown>>} */
  #running = new Set();
  /** The fills that are running. @type {Map<string, Promise<void>>} */
  #fills = new Map();

  /**
   * @param {import("@hedgerow/snapshot").ImageCache} cache
   * @param {string} copies the folder of private copies
   * @param {import("@hedgerow/fleet").FillLeaseOptions} lease
   * @param {AbortSignal} signal ends all requests
   */
  constructor(cache, copies, lease, signal) {
    this.#cache = cache;
    this.#copies = copies;
    this.#lease = lease;
    this.#signal = signal;
  }

  /** The number of copies: each sandbox of the node has one, and removes it when it ends. */
  get load() {
    return readdirSync(this.#copies).filter((name) => !name.startsWith(".")).length;
  }

  /** Resolves when no request is running. */
  async settled() {
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  /**
   * Brings an image into the cache, and makes a copy if one is requested.
   *
   * @param {import("./requests.mjs").ImageRequest} request
   */
  get(request) {
    const running = this.#get(request).finally(() => this.#running.delete(running));
    this.#running.add(running);
    return running;
  }

  /** @param {import("./requests.mjs").ImageRequest} request */
  async #get({ source, digest, copyTo }) {
    try {
      const hit = await this.#cache.has(source, { digest });
      if (!hit) await this.#fill(source, digest);
      // Pods that write their images must not change those of others.
      const copy = copyTo && { copyTo: join(this.#copies, copyTo), overwrite: false };
      const options = { digest, signal: this.#signal, ...copy };
      const image = await this.#cache.get(source, options);
      await image.release();
      return { digest, hit, size: image.info.imageSize, copy: copyTo };
    } catch (error) {
      if (this.#signal.aborted) throw new RequestError(503, "ERR_DRAINING", "the agent is ending");
      if (!(error instanceof SnapshotError)) throw error;
      if (error.code === "ERR_TARGET") throw exists(copyTo);
      throw new RequestError(STATUSES[error.code] ?? 500, error.code, error.message);
    }
  }

  /** Fills an image, once for all requests. @param {string} source @param {string} digest */
  #fill(source, digest) {
    const running = this.#fills.get(digest);
    if (running !== undefined) return running;
    const fill = this.#fillLeased(source, digest).finally(() => this.#fills.delete(digest));
    this.#fills.set(digest, fill);
    return fill;
  }

  /** Fills an image with a lease of the fleet. @param {string} source @param {string} digest */
  async #fillLeased(source, digest) {
    const signal = this.#signal;
    const lease = await fillLease(digest, { ...this.#lease, signal });
    try {
      const image = await this.#cache.get(source, { digest, signal });
      await image.release();
    } finally {
      // With a shared tier that has the bytes now, `filled: true` would let all others continue.
      await lease.release();
    }
  }
}
