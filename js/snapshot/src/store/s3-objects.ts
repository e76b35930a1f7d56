import { setMaxListeners } from "node:events";
import type { FileHandle } from "node:fs/promises";
import { withEither } from "../abort.js";
import { SnapshotError } from "../error.js";
import { isGatewayStatus } from "../http/retry.js";
import { forUploads, type Transfer, type TransferOptions, transferOf } from "../http/transfer.js";
import { openTemporaryFile } from "../local/private-file.js";
import { planOf } from "../location/write-snapshot.js";
import type { ObjectLocation } from "../s3/failure.js";
import {
  type CopySource,
  copyWhole,
  UnsupportedCopy,
  type UploadPlan,
  uploadWhole,
} from "../s3/multipart-upload.js";
import { MIN_PART_SIZE, ObjectStore } from "../s3/object-store.js";
import {
  type Hold,
  type ListedObject,
  MARKER,
  type NewObject,
  type StoredObject,
  type StoreObjects,
  type WriteResult,
} from "./objects.js";

/** The number of bytes that are read of a file at a time. */
const CHUNK = 2 ** 20;

/** Times of objects have whole seconds: they may have been written up to a second later. */
const SECOND = 1_000;

/** The maximum length of objects that are written conditionally, in bytes. */
const MAX_LENGTH = 2 ** 22;

/** The statuses of conditional requests whose condition did not hold, or that collided with other requests. */
const CONFLICTS = [404, 409, 412];

/** The statuses of an upload whose object, or parts, another request has replaced or removed. */
const SUPERSEDED = [404, 412];

/** How many times to send a conditional request, or an upload, whose condition holds. */
const MAX_TRIES = 3;

/** The prefix of temporary objects that test a service, and their maximum length in bytes. */
export const PROBE = ".probe-";
const MAX_PROBE_LENGTH = 4_096;

/** The part of an error of the SDK that has the status of the response. */
interface SdkError {
  readonly $metadata?: { readonly httpStatusCode?: number };
}

type Call<T> = Parameters<typeof ObjectStore.prototype.send<T>>[0];

/** The objects of a store in S3. */
export class S3Objects implements StoreObjects {
  readonly leasesExpire = true;
  readonly #store: ObjectStore;
  readonly #bucket: string;
  /** The prefix of the keys of all objects, with a slash at its end. */
  readonly #prefix: string;
  readonly #options: TransferOptions;
  readonly #transfer: Transfer;
  readonly #closed = new AbortController();

  private constructor(store: ObjectStore, options: TransferOptions) {
    const { bucket, key } = store.location;
    this.#store = store;
    this.#bucket = bucket;
    this.#prefix = `${key}/`;
    this.#options = options;
    this.#transfer = transferOf(options);
    // Every request listens to it.
    setMaxListeners(0, this.#closed.signal);
  }

  /** @throws {SnapshotError} `ERR_ARGUMENT` if no region or no credentials are found */
  static async open(
    location: { readonly bucket: string; readonly key: string },
    options: TransferOptions,
    signal: AbortSignal | undefined,
  ): Promise<S3Objects> {
    const store = await ObjectStore.open(location, options.s3, transferOf(options), signal);
    return new S3Objects(store, options);
  }

  get name(): string {
    return this.#store.name;
  }

  location(key: string) {
    return { kind: "s3", bucket: this.#bucket, key: `${this.#prefix}${key}` } as const;
  }

  async now(): Promise<number> {
    if (this.#store.now === undefined) await this.size(MARKER);
    // If a proxy removes the date, nothing ever counts as old.
    return this.#store.now ?? 0;
  }

  async read(
    key: string,
    maxLength: number,
    signal?: AbortSignal,
  ): Promise<StoredObject | undefined> {
    const { Bucket, Key } = this.#names(key);
    const read: Call<StoredObject | undefined> = async (s3, options) => {
      const { Body, ContentLength, ETag, LastModified } = await s3.getObject(
        { Bucket, Key },
        options,
      );
      const body = (Body ?? []) as AsyncIterable<Buffer>;
      const chunks: Buffer[] = [];
      let length = 0;
      // Some services do not announce the length.
      for await (const chunk of body) {
        length += chunk.length;
        if (Math.max(length, ContentLength ?? 0) > maxLength) {
          const found = ContentLength ?? "more";
          const message = `${this.#nameOf(key)}: expected at most ${maxLength} bytes, found ${found}`;
          throw new SnapshotError("ERR_STORE", message);
        }
        chunks.push(chunk);
      }
      return { bytes: Buffer.concat(chunks), tag: ETag ?? "", modified: modifiedOf(LastModified) };
    };
    return this.#unlessStatus([404], this.#send(key, read, signal));
  }

  async write(
    key: string,
    bytes: Uint8Array,
    tag: string | undefined,
    signal?: AbortSignal,
  ): Promise<WriteResult> {
    const condition = tag === undefined ? { IfNoneMatch: "*" } : { IfMatch: tag };
    const { Bucket, Key } = this.#names(key);
    const ContentType = "application/json";
    const write: Call<WriteResult> = async (s3, options) => {
      const put = { Bucket, Key, Body: bytes, ContentType, ...condition };
      return { tag: (await s3.putObject(put, options)).ETag };
    };
    return this.#unlessRefused(key, tag, write, signal, (found) => {
      // The response of an earlier attempt may have been lost.
      return { tag: found?.bytes.equals(bytes) ? found.tag : undefined, found };
    });
  }

  async remove(key: string, tag: string): Promise<boolean> {
    const { Bucket, Key } = this.#names(key);
    const remove: Call<boolean> = async (s3, options) => {
      await s3.deleteObject({ Bucket, Key, IfMatch: tag }, options);
      return true;
    };
    return this.#unlessRefused(key, tag, remove, undefined, (found) => found === undefined);
  }

  async delete(key: string, timeout: number): Promise<boolean> {
    const { Bucket, Key } = this.#names(key);
    const limit = AbortSignal.timeout(timeout);
    let isUnanswered = false;
    const remove: Call<boolean> = async (s3, options) => {
      // The outcome of another request would not say when the earlier one is carried out.
      if (isUnanswered) return false;
      isUnanswered = true;
      try {
        await s3.deleteObject({ Bucket, Key }, options);
        return true;
      } catch (error) {
        isUnanswered = !isAnswer((error as SdkError).$metadata?.httpStatusCode);
        throw error;
      }
    };
    try {
      return (await this.#unlessStatus([404], this.#send(key, remove, limit))) ?? true;
    } catch (error) {
      if (limit.aborted || isUnanswered) return false;
      throw error;
    }
  }

  size(key: string, signal?: AbortSignal): Promise<number | undefined> {
    const { Bucket, Key } = this.#names(key);
    const head: Call<number> = async (s3, options) => {
      const { ContentLength } = await s3.headObject({ Bucket, Key }, options);
      if (ContentLength !== undefined) return ContentLength;
      // Some proxies remove it. A range tells the size, too.
      const first = await s3.getObject({ Bucket, Key, Range: "bytes=0-0" }, options);
      for await (const _ of (first.Body ?? []) as AsyncIterable<Buffer>);
      const [, size] = /\/(\d{1,16})$/.exec(first.ContentRange ?? "") ?? [];
      if (size !== undefined) return Number(size);
      throw new SnapshotError(
        "ERR_STORE",
        `${this.#nameOf(key)}: the service does not tell its size`,
      );
    };
    return this.#unlessStatus([404], this.#send(key, head, signal));
  }

  async create<T>(use: (object: NewObject) => Promise<T>): Promise<T> {
    const { path, handle } = await openTemporaryFile();
    try {
      return await use({
        ...{ path, handle },
        publish: (key, signal) => this.#upload(key, handle, signal),
      });
    } finally {
      await handle.close();
    }
  }

  async copy(
    key: string,
    source: CopySource,
    size: number,
    signal: AbortSignal | undefined,
  ): Promise<boolean> {
    const location = this.location(key);
    const store = await this.#openUploads(location, signal, false);
    try {
      const plan = this.#planOf(size, signal);
      await this.#publish(key, signal, () => copyWhole(store, plan, source, size));
      return true;
    } catch (error) {
      if (error instanceof UnsupportedCopy) return false;
      throw error;
    } finally {
      store.close();
    }
  }

  async *list(wanted: string, after?: string, signal?: AbortSignal): AsyncGenerator<ListedObject> {
    const Bucket = this.#bucket;
    const prefix = this.#prefix;
    const Prefix = `${prefix}${wanted}`;
    const first = after === undefined ? {} : { StartAfter: `${prefix}${after}` };
    for (let from: { StartAfter?: string; ContinuationToken?: string } = first; ; ) {
      const request = { Bucket, Prefix, ...from };
      const page = await this.#page(wanted, (s3, o) => s3.listObjectsV2(request, o), signal);
      const contents = page.Contents ?? [];
      for (const { Key = "", Size = 0 } of contents)
        yield { key: Key.slice(prefix.length), size: Size };
      const { IsTruncated, NextContinuationToken: token } = page;
      // Some services state only one of them.
      if (!(IsTruncated ?? token)) return;
      // Without a token, or with an empty one, the last key tells where the list continues.
      const last = contents.at(-1)?.Key;
      if (token ? token === from.ContinuationToken : !last || last === from.StartAfter)
        throw this.#endlessList();
      from = token ? { ...first, ContinuationToken: token } : { StartAfter: last as string };
    }
  }

  /**
   * Requests a page of a list. An empty response must not be read as an empty list: a collection would delete
   * everything.
   */
  #page<T extends object>(key: string, call: Call<T>, signal: AbortSignal | undefined): Promise<T> {
    const request: Call<T> = async (s3, options) => {
      const page = await call(s3, options);
      const { $metadata, ...members } = page as T & SdkError;
      if (Object.values(members).some((member) => member !== undefined)) return page;
      throw Object.assign(new Error("expected a list, found nothing"), { $metadata });
    };
    return this.#send(key, request, signal);
  }

  #endlessList(): SnapshotError {
    const message = `${this.name}: the service does not tell how a list continues`;
    return new SnapshotError("ERR_STORE", message);
  }

  /** Does nothing: only the lease in the pointer counts. */
  async hold(_token: string): Promise<Hold> {
    return { release: async () => {} };
  }

  async isHeld(_token: string): Promise<boolean> {
    return true;
  }

  async removeLeftovers(age: number, dryRun: boolean, signal?: AbortSignal): Promise<number> {
    const before = (await this.now()) - age;
    let count = await this.#abortUploads(before, dryRun, signal);
    for await (const { key } of this.list(PROBE, undefined, signal)) {
      const found = await this.read(key, MAX_PROBE_LENGTH, signal);
      if (found === undefined || found.modified > before) continue;
      count += 1;
      if (!dryRun) await this.remove(key, found.tag);
    }
    return count;
  }

  /** Aborts uploads that were not completed. Returns their number. */
  async #abortUploads(
    before: number,
    dryRun: boolean,
    signal: AbortSignal | undefined,
  ): Promise<number> {
    const Bucket = this.#bucket;
    const Prefix = this.#prefix;
    let count = 0;
    for (let marker: { KeyMarker?: string; UploadIdMarker?: string } = {}; ; ) {
      const wanted = { Bucket, Prefix, ...marker };
      const page = await this.#page("", (s3, o) => s3.listMultipartUploads(wanted, o), signal);
      for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
        if (Key === undefined || UploadId === undefined) continue;
        if (modifiedOf(Initiated) > before) continue;
        count += 1;
        if (dryRun) continue;
        const abort: Call<unknown> = (s3, options) =>
          s3.abortMultipartUpload({ Bucket, Key, UploadId }, options);
        await this.#unlessStatus([404], this.#send("", abort, signal));
      }
      const { NextKeyMarker, NextUploadIdMarker, IsTruncated } = page;
      if (!(IsTruncated ?? NextKeyMarker)) return count;
      const isSame =
        NextKeyMarker === marker.KeyMarker && NextUploadIdMarker === marker.UploadIdMarker;
      if (!NextKeyMarker || isSame) throw this.#endlessList();
      marker = {
        KeyMarker: NextKeyMarker,
        ...(NextUploadIdMarker ? { UploadIdMarker: NextUploadIdMarker } : {}),
      };
    }
  }

  close(): void {
    this.#closed.abort(new SnapshotError("ERR_STORE", `${this.name}: the store was closed`));
    this.#store.close();
  }

  #names(key: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#bucket, Key: `${this.#prefix}${key}` };
  }

  #nameOf(key: string): string {
    return `${this.name}/${key}`;
  }

  /** @param signal ends the call, as does closing the store */
  #send<T>(key: string, call: Call<T>, signal?: AbortSignal): Promise<T> {
    const whole = `${this.#prefix}${key}`.replace(/\/$/, "");
    const object = this.#store.at({ bucket: this.#bucket, key: whole });
    return withEither(signal, this.#closed.signal, (either) =>
      object.send(call, either, either, "ERR_STORE"),
    );
  }

  /**
   * Sends a conditional request. If the service refuses it, returns the result for the object that is found then. A
   * refusal alone does not tell whether the condition holds: the request may have collided with another one.
   *
   * @param tag what the object must have; undefined if there must be none
   */
  async #unlessRefused<T>(
    key: string,
    tag: string | undefined,
    call: Call<T>,
    signal: AbortSignal | undefined,
    resultOf: (found: StoredObject | undefined) => T,
  ): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#send(key, call, signal);
      } catch (error) {
        if (!hasStatus(error, CONFLICTS)) throw error;
        const found = await this.read(key, MAX_LENGTH, signal);
        if (found?.tag !== tag) return resultOf(found);
        if (tries === MAX_TRIES) throw error;
      }
    }
  }

  async #unlessStatus<T>(
    statuses: readonly (number | undefined)[],
    result: Promise<T>,
  ): Promise<T | undefined> {
    try {
      return await result;
    } catch (error) {
      if (hasStatus(error, statuses)) return undefined;
      throw error;
    }
  }

  async #upload(key: string, file: FileHandle, signal: AbortSignal | undefined): Promise<boolean> {
    const { size } = await file.stat();
    const location = this.location(key);
    const isLarge = size > MIN_PART_SIZE;
    const object = isLarge ? await this.#openUploads(location, signal) : this.#store.at(location);
    const write = (sink: (bytes: AsyncIterable<Uint8Array>) => Promise<void>) =>
      sink(chunksOf(file, size));
    const plan = this.#planOf(size, signal);
    // Two parts take less time in one request than in four.
    const partSize = size <= 2 * plan.partSize ? Math.max(size, plan.partSize) : plan.partSize;
    try {
      return await this.#publish(key, signal, () =>
        uploadWhole(object, { ...plan, partSize }, write),
      );
    } finally {
      if (isLarge) object.close();
    }
  }

  /**
   * Uploads an object, unless it exists. A conflict (409) may end a multipart upload: AWS advises starting another.
   *
   * @returns whether this upload has made it
   */
  async #publish(
    key: string,
    signal: AbortSignal | undefined,
    upload: () => Promise<void>,
  ): Promise<boolean> {
    for (let tries = 1; ; tries += 1) {
      const made = upload().then(() => true);
      if (await this.#unlessStatus(SUPERSEDED, made)) return true;
      if (tries === MAX_TRIES || (await this.size(key, signal)) !== undefined) return false;
    }
  }

  /** Opens the service for uploads, whose responses may take longer than others. The caller closes it. */
  #openUploads(location: ObjectLocation, signal: AbortSignal | undefined, hasChecksums = true) {
    const transfer = forUploads(this.#transfer);
    return ObjectStore.open(location, this.#options.s3, transfer, signal, hasChecksums);
  }

  #planOf(size: number, signal: AbortSignal | undefined): UploadPlan {
    return planOf({ options: { overwrite: false, signal }, transfer: this.#transfer }, size);
  }
}

/** Returns whether an error has one of some statuses, and the bucket exists. */
function hasStatus(error: unknown, statuses: readonly (number | undefined)[]): boolean {
  const isOne = error instanceof SnapshotError && statuses.includes(error.status);
  return isOne && (error.cause as Error | undefined)?.name !== "NoSuchBucket";
}

/** Returns whether a status is the answer of the service. */
function isAnswer(status: number | undefined): boolean {
  return status !== undefined && !isGatewayStatus(status);
}

/** Returns a time by which an object was certainly written. */
function modifiedOf(time: Date | undefined): number {
  return time === undefined ? Number.POSITIVE_INFINITY : time.getTime() + SECOND;
}

async function* chunksOf(file: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; ) {
    const length = Math.min(CHUNK, size - at);
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
    if (bytesRead === 0) throw new Error("the temporary file was truncated");
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}
