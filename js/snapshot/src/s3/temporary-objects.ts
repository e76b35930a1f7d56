import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";

import type { Content, CopySource } from "./content.js";
import { type UploadPlan, uploadParts } from "./multipart-upload.js";
import type { ObjectStore } from "./object-store.js";

/** How long to wait for the service after a failure or an abort, in milliseconds. */
const GRACE = 5_000;

/**
 * Objects beside another one that exist while that is uploaded: `.hedgerow-*.tmp`. A killed process leaves them: a
 * lifecycle rule of the bucket should expire objects with this prefix.
 */
export class TemporaryObjects {
  readonly #store: ObjectStore;
  readonly #plan: UploadPlan;
  readonly #ended = new AbortController();
  readonly #uploads: Promise<unknown>[] = [];
  readonly #stores: ObjectStore[] = [];

  constructor(store: ObjectStore, plan: UploadPlan) {
    // Every upload listens to it.
    setMaxListeners(0, this.#ended.signal);
    this.#store = store;
    this.#plan = plan;
  }

  /**
   * Stores contents as one object. Only the last may be smaller than a part.
   *
   * @throws {SnapshotError} `ERR_TARGET`, `ERR_SOURCE_CHANGED`
   */
  join(contents: readonly Content[]): Promise<CopySource> {
    const { bucket, key } = this.#store.location;
    const folder = key.slice(0, key.lastIndexOf("/") + 1);
    const location = { bucket, key: `${folder}.hedgerow-${randomUUID()}.tmp` };
    const store = this.#store.at(location);
    this.#stores.push(store);
    const plan = { ...this.#plan, overwrite: true, signal: this.#ended.signal };
    const upload = uploadParts(store, plan, async (write) => {
      await write(contents);
      return { location, etag: undefined };
    });
    this.#uploads.push(upload);
    return upload;
  }

  /** Ends all uploads, and removes all objects. One that the service does not remove is reported as a warning. */
  async remove(): Promise<void> {
    this.#ended.abort(new Error("the upload has ended"));
    await Promise.allSettled(this.#uploads);
    const deadline = AbortSignal.timeout(GRACE);
    setMaxListeners(0, deadline);
    const removals = this.#stores.map(async (store) => {
      const { bucket: Bucket, key: Key } = store.location;
      const call: Parameters<typeof store.send>[0] = (s3, options) =>
        s3.deleteObject({ Bucket, Key }, options);
      await store.send(call, deadline, deadline).catch(() => warnOfObject(store.name));
    });
    await Promise.all(removals);
  }
}

function warnOfObject(name: string): void {
  process.emitWarning(`${name}: cannot remove this temporary object`, {
    code: "HEDGEROW_TEMPORARY_OBJECT",
  });
}
