import { createHash } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";

import type { CompletedPart } from "@aws-sdk/client-s3";
import { SnapshotError } from "../error.js";
import { EXISTS } from "../http/failure.js";
import {
  type CopySource,
  nameOf,
  type ObjectLocation,
  type UploadPlan,
  type WriteBytes,
} from "./object-service.js";
import { MAX_PARTS, type S3Object } from "./s3-object.js";
import { UploadParts } from "./upload-parts.js";

/** The error of a service that does not support copies of ranges. */
export class UnsupportedCopy extends SnapshotError {}

/** The largest range that is copied with one request, in bytes: the response takes as long as the copy. */
const MAX_COPY = 2 ** 27;

/** How long to wait for the service after a failure or an abort, in milliseconds. */
const GRACE = 5_000;

/**
 * The number of requests to abort an upload if the upload of a part was cut off: the service may have received the whole
 * part, and may store it after the first abort.
 */
const MAX_ABORTS = 3;

/** The pause between these requests, in milliseconds. */
const ABORT_INTERVAL = 10;

/** How often to look for requests that can be cut off, in milliseconds. */
const CUT_INTERVAL = 5;

/** The statuses of a service that does not have an operation. */
const UNSUPPORTED: ReadonlySet<number> = new Set([405, 501]);

/**
 * Writes an object atomically: it appears when `make` has written all of it and has returned. Full parts are
 * uploaded while more is written; less than a part is uploaded with one request.
 *
 * If anything fails, pending requests are cancelled, and the service is asked to abort the multipart upload. That
 * request may be lost, or the ID of the upload, so buckets should have a rule that aborts incomplete uploads.
 *
 * An abort after the last request was sent comes too late: its response is awaited for some seconds, and an object
 * that was written stays. Without a response the outcome is unknown.
 *
 * @throws {SnapshotError} `ERR_TARGET`
 */
export function uploadWhole<T>(
  store: S3Object,
  plan: UploadPlan,
  make: (write: WriteBytes) => Promise<T>,
): Promise<T> {
  return withUpload(store, plan, (upload) => make((bytes) => upload.write(bytes)));
}

/**
 * Creates an object as a copy of another one of the same service, which copies it. Both have the size of the plan.
 *
 * @throws {SnapshotError} `ERR_TARGET`, `ERR_SOURCE_CHANGED`, or an {@link UnsupportedCopy}
 */
export function copyWhole(store: S3Object, plan: UploadPlan, source: CopySource): Promise<void> {
  return withUpload(store, plan, (upload) => upload.copy(source, plan.size));
}

async function withUpload<T>(
  store: S3Object,
  plan: UploadPlan,
  use: (upload: Upload) => Promise<T>,
): Promise<T> {
  const upload = new Upload(store, plan);
  try {
    return await upload.run(() => use(upload));
  } finally {
    upload.close();
  }
}

class Upload {
  readonly #store: S3Object;
  readonly #plan: UploadPlan;
  readonly #parts: UploadParts;
  /** Cancels requests on their way, some seconds later. */
  readonly #late = new AbortController();
  readonly #completed: CompletedPart[] = [];
  #id: Promise<string> | undefined;
  #isDone = false;
  #wasCut = false;
  /** Whether the pending request is the one that makes the object appear. */
  #isCommitting = false;
  #lateness: NodeJS.Timeout | undefined;

  constructor(store: S3Object, plan: UploadPlan) {
    this.#store = store;
    this.#plan = plan;
    this.#parts = new UploadParts(plan, (part) => this.#upload(part));
    // Every pending part listens to it.
    setMaxListeners(0, this.#late.signal);
    this.#ended.addEventListener("abort", () => this.#end(), { once: true });
  }

  /** Runs an upload until it has appeared, or discards it. */
  run<T>(use: () => Promise<T>): Promise<T> {
    return this.#parts.run(
      async () => {
        const result = await use();
        await this.#complete();
        return result;
      },
      () => this.#discard(),
    );
  }

  /** Aborts the work. */
  get #ended(): AbortSignal {
    return this.#parts.signal;
  }

  get #target() {
    const { bucket, key } = this.#store.location;
    return { Bucket: bucket, Key: key };
  }

  get #condition() {
    return this.#plan.overwrite ? {} : { IfNoneMatch: "*" };
  }

  /** Cuts off pending requests. If the service may have received all of a request, its response is still awaited. */
  #end(): void {
    void this.#cut();
    this.#lateness = setTimeout(() => this.#late.abort(this.#ended.reason), GRACE);
  }

  /** Cuts off incomplete requests, repeatedly: a request that is being signed has not been sent yet. */
  async #cut(): Promise<void> {
    while (!this.#isDone) {
      // Node knows how much was sent only at the end of a turn, when it has asked the system.
      await setImmediate();
      if (!this.#isDone && this.#store.cutUnsent(this.#isCommitting)) this.#wasCut = true;
      await sleep(CUT_INTERVAL);
    }
  }

  /** Stops all timers. */
  close(): void {
    this.#isDone = true;
    clearTimeout(this.#lateness);
  }

  /** Uploads bytes, and reads them no faster than it uploads them. */
  write(bytes: AsyncIterable<Uint8Array>): Promise<void> {
    return this.#parts.write(bytes);
  }

  /** Has the service copy an object, in ranges. */
  async copy(source: CopySource, size: number): Promise<void> {
    const step = Math.max(MAX_COPY, Math.ceil(size / MAX_PARTS));
    for (let start = 0; start < size; start += step) {
      const end = Math.min(start + step, size);
      await this.#parts.start(() => this.#copyRange(source, start, end));
    }
  }

  /** Adds the next part. */
  #next(): CompletedPart & { readonly PartNumber: number } {
    const completed = { PartNumber: this.#completed.length + 1 };
    this.#completed.push(completed);
    return completed;
  }

  async #upload(Body: Uint8Array): Promise<void> {
    const completed = this.#next();
    this.#id ??= this.#create();
    const UploadId = await this.#id;
    const { PartNumber } = completed;
    const hash = this.#store.hasChecksums
      ? {}
      : { ContentMD5: createHash("md5").update(Body).digest("base64") };
    const input = { ...this.#target, ...hash, UploadId, PartNumber, Body };
    const response = await this.#store.send(
      (s3, options) => s3.uploadPart(input, options),
      this.#ended,
      this.#late.signal,
    );
    completed.ETag = response.ETag;
    completed.ChecksumCRC32 = response.ChecksumCRC32;
  }

  async #copyRange({ location, etag }: CopySource, start: number, end: number): Promise<void> {
    const completed = this.#next();
    this.#id ??= this.#create();
    const input = {
      ...this.#target,
      UploadId: await this.#id,
      PartNumber: completed.PartNumber,
      CopySource: copySourceOf(location),
      CopySourceRange: `bytes=${start}-${end - 1}`,
      CopySourceIfMatch: etag,
    };
    try {
      const { CopyPartResult } = await this.#store.send(
        (s3, options) => s3.uploadPartCopy(input, options),
        this.#ended,
        this.#late.signal,
      );
      completed.ETag = CopyPartResult?.ETag;
    } catch (error) {
      if (!(error instanceof SnapshotError)) throw error;
      const { code, message: found, status = 0 } = error;
      if (UNSUPPORTED.has(status)) throw new UnsupportedCopy(code, found, { cause: error, status });
      if (status !== 412) throw error;
      const message = `${nameOf(location)}: the object changed while it was read: its ETag differs (HTTP 412)`;
      throw new SnapshotError("ERR_SOURCE_CHANGED", message, { status: 412 });
    }
  }

  /** Creates the multipart upload, and returns its ID. */
  async #create(): Promise<string> {
    const { UploadId } = await this.#store.send(
      async (s3, options) => {
        // Services verify the checksums that the SDK sends with the parts only if this announces them.
        const isChecked = (await s3.config.requestChecksumCalculation()) === "WHEN_SUPPORTED";
        const checksum = isChecked ? { ChecksumAlgorithm: "CRC32" as const } : {};
        return s3.createMultipartUpload({ ...this.#target, ...checksum }, options);
      },
      this.#ended,
      this.#late.signal,
    );
    if (UploadId !== undefined) return UploadId;
    throw new SnapshotError("ERR_TARGET", `${this.#store.name}: expected an upload ID, found none`);
  }

  /** Makes the object appear. */
  async #complete(): Promise<void> {
    this.#ended.throwIfAborted();
    if (this.#id === undefined) return this.#put();
    await this.#parts.finish();
    const UploadId = await this.#id;
    const MultipartUpload = { Parts: this.#completed };
    const input = { ...this.#target, ...this.#condition, UploadId, MultipartUpload };
    await this.#commit(
      (s3, options) => s3.completeMultipartUpload(input, options),
      () => etagOfParts(this.#completed),
    );
  }

  async #put(): Promise<void> {
    const Body = this.#parts.rest;
    const input = { ...this.#target, ...this.#condition, Body };
    await this.#commit(
      (s3, options) => s3.putObject(input, options),
      () => createHash("md5").update(Body).digest("hex"),
    );
  }

  /**
   * Sends the request that makes the object appear. If a response was lost, the next attempt may find the upload
   * gone or the object there: then the ETag of the object tells whether it is this one. A service that refuses a
   * conditional upload before it has read it may close the connection, and that response is lost as well. A conflict with
   * another upload (409) does not say which of them succeeded, if any.
   */
  async #commit(call: Parameters<S3Object["send"]>[0], tag: () => string): Promise<void> {
    let attempts = 0;
    this.#isCommitting = true;
    try {
      await this.#store.send(
        (s3, options) => {
          attempts += 1;
          return call(s3, options);
        },
        this.#ended,
        this.#late.signal,
      );
    } catch (error) {
      const { status } = Object(error) as { readonly status?: unknown };
      const isUnknown = status === undefined && !this.#plan.overwrite;
      const isConflict = status === 409;
      const mayBeThere = isUnknown || isConflict || status === 404 || status === 412;
      const found = attempts > 1 && mayBeThere ? await this.#etag() : undefined;
      if (found === tag()) return;
      const exists = status === 412 || ((isConflict || isUnknown) && found !== undefined);
      if (exists && !this.#plan.overwrite)
        throw new SnapshotError("ERR_TARGET", `${this.#store.name}: ${EXISTS}`, { status: 412 });
      throw error;
    }
  }

  /** Returns the ETag of the object, without quotes, or undefined if there is none or that is unknown. */
  async #etag(): Promise<string | undefined> {
    try {
      const { ETag } = await this.#store.send(
        (s3, options) => s3.headObject(this.#target, options),
        this.#ended,
        this.#late.signal,
      );
      return ETag === undefined ? undefined : unquoted(ETag);
    } catch {
      return undefined;
    }
  }

  /** Aborts the multipart upload, when no request is pending. */
  async #discard(): Promise<void> {
    await this.#parts.settled();
    const UploadId = await this.#id?.catch(() => undefined);
    this.close();
    if (UploadId === undefined) return;
    const input = { ...this.#target, UploadId };
    const deadline = AbortSignal.timeout(GRACE);
    try {
      for (let count = 0; count < (this.#wasCut ? MAX_ABORTS : 1); count += 1) {
        if (count > 0) await sleep(ABORT_INTERVAL);
        await this.#store.send(
          (s3, options) => s3.abortMultipartUpload(input, options),
          deadline,
          deadline,
        );
      }
    } catch {
      // It is gone already, or the rule of the bucket aborts it.
    }
  }
}

/** Returns the ETag of an object in parts: the MD5 of the MD5s of its parts, and their number. */
function etagOfParts(parts: readonly CompletedPart[]): string {
  const hash = createHash("md5");
  // If the ETag of a part is not an MD5, the result is one that no object has.
  for (const { ETag = "" } of parts) hash.update(Buffer.from(unquoted(ETag), "hex"));
  return `${hash.digest("hex")}-${parts.length}`;
}

/** Returns the value of the header with the object to copy from. */
function copySourceOf({ bucket, key }: ObjectLocation): string {
  return [bucket, ...key.split("/")].map(encodeURIComponent).join("/");
}

function unquoted(tag: string): string {
  return tag.replaceAll('"', "");
}
