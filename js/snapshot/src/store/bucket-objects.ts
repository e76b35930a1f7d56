/** The objects of a store in a bucket. */
import { randomUUID } from "node:crypto";
import { setMaxListeners } from "node:events";
import type { FileHandle } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { withEither } from "../abort.js";
import { SnapshotError } from "../error.js";
import { CleanCause } from "../http/failure.js";
import { isGatewayStatus } from "../http/retry.js";
import { type Transfer, type TransferOptions, transferOf } from "../http/transfer.js";
import { openTemporaryFile } from "../local/private-file.js";
import { COLLIDED, hasStatus, MAX_TRIES } from "../services/failure.js";
import {
  type CopySource,
  type ListedObject,
  type ListFrom,
  type ListPage,
  nameOf,
  type ObjectLocation,
  type ObjectService,
  type StoredObject,
  type UploadPlan,
} from "../services/object-service.js";
import { planOf, serviceOf } from "../services/open-service.js";
import {
  type Hold,
  MARKER,
  type NewObject,
  type StoreObjects,
  type WriteResult,
} from "./objects.js";

/** The number of bytes that are read of a file at a time. */
const CHUNK = 2 ** 20;

/** The maximum length of objects that are written conditionally, in bytes. */
const MAX_LENGTH = 2 ** 22;

/** The statuses of conditional requests whose condition did not hold, or that collided with other requests. */
const CONFLICTS = [...COLLIDED, 412];

/** How long a removal may take to delete an object that it has marked, in milliseconds. */
const REMOVAL = 60_000;

/** After how long others may write the key of a marked object, in milliseconds: no request of the removal can still arrive. */
const TAKEOVER = 300_000;

/** How long to wait for an object that is being removed, and how long between attempts, in milliseconds. */
const MAX_WAIT = 30_000;
const INTERVAL = 200;

/** The content of an object that counts as removed. No two are the same, and no other object has this length. */
const removedBytes = () => Buffer.from(`${JSON.stringify({ removed: randomUUID() })}\n`);
const REMOVED_LENGTH = removedBytes().length;

/** The prefix of temporary objects that test a service, and their maximum length in bytes. */
export const PROBE = ".probe-";
const MAX_PROBE_LENGTH = 4_096;

/** Where a process that was killed may leave objects that it was removing. */
const REMOVED_IN = [PROBE, "disks/", "tombstones/"];

/** The objects of a store in a bucket, below its key. */
export class BucketObjects implements StoreObjects {
  readonly leasesExpire = true;
  /** The URL of the store. */
  readonly name: string;
  readonly unusedTag: string;
  readonly #service: ObjectService;
  readonly #location: ObjectLocation;
  /** The prefix of the keys of all objects, with a slash at its end. */
  readonly #prefix: string;
  readonly #transfer: Transfer;
  readonly #closed = new AbortController();

  private constructor(location: ObjectLocation, service: ObjectService, options: TransferOptions) {
    this.#location = location;
    this.#service = service;
    this.name = nameOf(location);
    this.unusedTag = service.unusedTag;
    this.#prefix = `${location.key}/`;
    this.#transfer = transferOf(options);
    // Every request listens to it.
    setMaxListeners(0, this.#closed.signal);
  }

  /** @throws {SnapshotError} `ERR_ARGUMENT` if the client of the service is missing */
  static async open(location: ObjectLocation, options: TransferOptions): Promise<BucketObjects> {
    return new BucketObjects(location, await serviceOf(location, options), options);
  }

  location(key: string) {
    return { ...this.#location, kind: "object", key: this.#key(key) } as const;
  }

  async now(): Promise<number> {
    if (this.#service.now === undefined) await this.size(MARKER);
    // If a proxy removes the date, nothing ever counts as old.
    return this.#service.now ?? 0;
  }

  async read(
    key: string,
    maxLength: number,
    signal?: AbortSignal,
  ): Promise<StoredObject | undefined> {
    return present(await this.#read(key, maxLength, signal));
  }

  async write(
    key: string,
    bytes: Uint8Array,
    tag: string | undefined,
    signal?: AbortSignal,
  ): Promise<WriteResult> {
    const end = performance.now() + MAX_WAIT;
    for (let expected = tag; ; ) {
      const { tag: written, found } = await this.#write(key, bytes, expected, signal);
      if (written !== undefined) return { tag: written };
      if (tag !== undefined || found === undefined || !isRemoved(found))
        return { tag: undefined, found: present(found) };
      // It is being removed, and that request may still arrive.
      const isOver = (await this.now()) - found.modified > TAKEOVER;
      expected = isOver ? found.tag : undefined;
      if (performance.now() > end) {
        const message = `${this.name}/${key}: it is being removed; try again in ${TAKEOVER / 60_000} minutes`;
        throw new SnapshotError("ERR_STORE", message);
      }
      if (!isOver) await sleep(INTERVAL, undefined, { signal });
    }
  }

  /**
   * Few services delete conditionally. So the object is first replaced by one that says that it is removed, by a
   * conditional write. No other process writes the key while the request that deletes it may still arrive.
   */
  async remove(key: string, tag: string): Promise<boolean> {
    // The mark may have been written long before its response arrives.
    const end = performance.now() + REMOVAL;
    const { tag: mark, found } = await this.#write(key, removedBytes(), tag, undefined);
    if (mark === undefined) return present(found) === undefined;
    const left = Math.floor(end - performance.now());
    if (left > 0) await this.delete(key, left);
    return true;
  }

  async delete(key: string, timeout: number): Promise<boolean> {
    const limit = AbortSignal.timeout(timeout);
    try {
      // Without an answer, the outcome of another request would not say when this one is carried out.
      const remove = this.#until(limit, (signal) =>
        this.#service.delete(this.#key(key), { signal, repeats: false }),
      );
      await unlessStatus([404], remove);
      return true;
    } catch (error) {
      if (limit.aborted || isUnanswered(error)) return false;
      throw error;
    }
  }

  size(key: string, signal?: AbortSignal): Promise<number | undefined> {
    const size = this.#until(signal, (either) =>
      this.#service.size(this.#key(key), { signal: either }),
    );
    return unlessStatus([404], size);
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
    if (source.location.service !== this.#location.service) return false;
    const plan = this.#planOf(size, signal);
    let isCopied = true;
    await this.#publish(key, signal, async () => {
      isCopied = await this.#service.copy(this.#key(key), source, plan);
    });
    return isCopied;
  }

  async *list(wanted: string, after?: string, signal?: AbortSignal): AsyncGenerator<ListedObject> {
    for await (const object of this.#list(wanted, after, signal))
      if (object.size !== REMOVED_LENGTH) yield object;
  }

  /** Lists objects, those that count as removed among them. */
  async *#list(
    wanted: string,
    after: string | undefined,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<ListedObject> {
    const prefix = this.#key(wanted);
    let from: ListFrom | undefined = after === undefined ? {} : { after: this.#key(after) };
    while (from !== undefined) {
      const { objects, next }: ListPage = await this.#until(signal, (either) =>
        this.#service.list(prefix, from ?? {}, { signal: either }),
      );
      for (const { key, size } of objects) yield { key: key.slice(this.#prefix.length), size };
      from = next;
    }
  }

  /** Does nothing: only the lease in the pointer counts. */
  async hold(_token: string): Promise<Hold> {
    return { release: async () => {} };
  }

  async isHeld(_token: string): Promise<boolean> {
    return true;
  }

  async removeLeftovers(age: number, dryRun: boolean, signal?: AbortSignal): Promise<number> {
    const now = await this.now();
    const before = now - age;
    let count = await this.#until(signal, (either) =>
      this.#service.abortUploads(this.#prefix, before, dryRun, { signal: either }),
    );
    for (const folder of REMOVED_IN) {
      for await (const { key, size } of this.#list(folder, undefined, signal)) {
        if (folder !== PROBE && size !== REMOVED_LENGTH) continue;
        const found = await this.#read(key, MAX_PROBE_LENGTH, signal);
        const isLeft = found !== undefined && (folder === PROBE || isRemoved(found));
        if (!isLeft || found.modified > Math.min(before, now - TAKEOVER)) continue;
        count += 1;
        if (!dryRun) await this.remove(key, found.tag);
      }
    }
    return count;
  }

  close(): void {
    this.#closed.abort(new SnapshotError("ERR_STORE", `${this.name}: the store was closed`));
    this.#service.close();
  }

  #key(key: string): string {
    return `${this.#prefix}${key}`;
  }

  /** Calls the service, until a signal is aborted or the store is closed. */
  #until<T>(
    signal: AbortSignal | undefined,
    call: (either: AbortSignal) => Promise<T>,
  ): Promise<T> {
    return withEither(signal, this.#closed.signal, call);
  }

  #read(
    key: string,
    maxLength: number,
    signal: AbortSignal | undefined,
  ): Promise<StoredObject | undefined> {
    const read = this.#until(signal, (either) =>
      this.#service.read(this.#key(key), maxLength, { signal: either }),
    );
    return unlessStatus([404], read);
  }

  /**
   * Writes an object conditionally. If the service refuses, returns what is found then. A refusal alone does not tell
   * whether the condition holds: the request may have collided with another one, or be a repetition whose first
   * response was lost.
   *
   * @param tag what the object must have; undefined if there must be none
   */
  async #write(
    key: string,
    bytes: Uint8Array,
    tag: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<WriteResult> {
    for (let tries = 1; ; tries += 1) {
      try {
        const written = this.#until(signal, (either) =>
          this.#service.write(this.#key(key), bytes, tag, { signal: either }),
        );
        return { tag: await written };
      } catch (error) {
        if (!hasStatus(error, CONFLICTS)) throw error;
        const found = await this.#read(key, MAX_LENGTH, signal);
        if (found?.tag !== tag)
          return { tag: found?.bytes.equals(bytes) ? found.tag : undefined, found };
        if (tries === MAX_TRIES) throw error;
      }
    }
  }

  async #upload(key: string, file: FileHandle, signal: AbortSignal | undefined): Promise<boolean> {
    const { size } = await file.stat();
    const plan = this.#planOf(size, signal);
    // Two parts take less time in one request than in four.
    const partSize = size <= 2 * plan.partSize ? Math.max(size, plan.partSize) : plan.partSize;
    return this.#publish(key, signal, () =>
      this.#service.upload(this.#key(key), { ...plan, partSize }, (write) =>
        write(chunksOf(file, size)),
      ),
    );
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
      try {
        await upload();
        return true;
      } catch (error) {
        if (!hasStatus(error, CONFLICTS)) throw error;
        if ((await this.size(key, signal)) !== undefined) return false;
        if (tries === MAX_TRIES) throw error;
      }
    }
  }

  #planOf(size: number, signal: AbortSignal | undefined): UploadPlan {
    return planOf(this.#service, { overwrite: false, signal }, this.#transfer, size);
  }
}

/** Returns whether an object counts as removed. */
function isRemoved({ bytes }: StoredObject): boolean {
  return bytes.length === REMOVED_LENGTH && bytes.toString().startsWith('{"removed":');
}

/** Returns an object unless it counts as removed. */
function present(found: StoredObject | undefined): StoredObject | undefined {
  return found === undefined || isRemoved(found) ? undefined : found;
}

async function unlessStatus<T>(
  statuses: readonly number[],
  result: Promise<T>,
): Promise<T | undefined> {
  try {
    return await result;
  } catch (error) {
    if (hasStatus(error, statuses)) return undefined;
    throw error;
  }
}

/** Returns whether a request was sent, and the service has not answered. */
function isUnanswered(error: unknown): boolean {
  if (!(error instanceof SnapshotError) || !(error.cause instanceof CleanCause)) return false;
  return error.status === undefined || isGatewayStatus(error.status);
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
