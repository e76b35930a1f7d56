import { createHash } from "node:crypto";
import { setMaxListeners } from "node:events";
import { setImmediate, setTimeout as sleep } from "node:timers/promises";

import type { CompletedPart } from "@aws-sdk/client-s3";
import { unlessAborted } from "../abort.js";
import { SnapshotError } from "../error.js";
import type { ObjectStore } from "./object-store.js";

/** How an object is sent. */
export interface UploadPlan {
  /** How long each part is, in bytes, but for the last. */
  readonly partSize: number;
  /** How many parts are sent at a time. */
  readonly connections: number;
  /** Whether an object that is there goes. */
  readonly overwrite: boolean;
  readonly signal: AbortSignal | undefined;
}

/** How long the service is waited for when the work has ended without success, in milliseconds. */
const GRACE = 5_000;

/**
 * How long after the service was told to forget an upload it is told again, in milliseconds, and how often
 * in all, if a request was cut: it may have had it wholly, and kept the part after it forgot the others.
 */
const [FORGET_INTERVAL, MAX_FORGETS] = [10, 3];

/** How often requests are looked for that are not sent wholly, and need not be, in milliseconds. */
const CUT_INTERVAL = 5;

/** How many bytes are in parts at most that are being sent, unless two parts are more. */
const MAX_BYTES_IN_FLIGHT = 2 ** 27;

/**
 * Writes an object whole or not at all: it appears when `make` has written all of it and is done. What
 * is written is sent in parts, while more is written; what is less than a part, in one piece.
 *
 * If anything fails, nothing is left of the object: what goes on is ended, and the service is told to
 * forget the parts. It may not hear of that, or of an upload whose beginning it could not confirm: let
 * buckets have a rule that ends uploads which are not completed.
 *
 * An abort that comes after the last request was sent comes too late: its answer is awaited for some
 * seconds, and if the object is there, it stays. Without an answer nobody knows.
 *
 * @throws {SnapshotError} `ERR_TARGET`
 */
export async function uploadWhole<T>(
  store: ObjectStore,
  plan: UploadPlan,
  make: (write: (bytes: AsyncIterable<Uint8Array>) => Promise<void>) => Promise<T>,
): Promise<T> {
  const upload = new Upload(store, plan);
  const abort = () => upload.end(plan.signal?.reason);
  plan.signal?.throwIfAborted();
  plan.signal?.addEventListener("abort", abort, { once: true });
  try {
    const result = await make((bytes) => upload.write(bytes));
    await upload.complete();
    return result;
  } catch (error) {
    upload.end(error);
    await upload.discard();
    // What went wrong first is what there is to tell.
    throw upload.reason;
  } finally {
    plan.signal?.removeEventListener("abort", abort);
    upload.free();
  }
}

class Upload {
  readonly #store: ObjectStore;
  readonly #plan: UploadPlan;
  readonly #most: number;
  /** Ends the work. */
  readonly #ended = new AbortController();
  /** Ends what was sent, a while after. */
  readonly #late = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  readonly #parts: CompletedPart[] = [];
  /** Parts that were sent, to be filled again. */
  readonly #free: Buffer[] = [];
  #part: Buffer | undefined;
  #filled = 0;
  #id: Promise<string> | undefined;
  #isFree = false;
  #wasCut = false;
  /** Whether what is sent is what the object appears with. */
  #isLast = false;
  #lateness: NodeJS.Timeout | undefined;

  constructor(store: ObjectStore, plan: UploadPlan) {
    this.#store = store;
    this.#plan = plan;
    // Every part that is being sent listens to them.
    setMaxListeners(0, this.#ended.signal, this.#late.signal);
    const fit = Math.floor(MAX_BYTES_IN_FLIGHT / plan.partSize);
    this.#most = Math.min(plan.connections, Math.max(2, fit));
  }

  /** Why it ended. */
  get reason(): unknown {
    return this.#ended.signal.reason;
  }

  get #target() {
    const { bucket, key } = this.#store.location;
    return { Bucket: bucket, Key: key };
  }

  get #condition() {
    return this.#plan.overwrite ? {} : { IfNoneMatch: "*" };
  }

  /** Ends the work, if it has not ended: what the service can have wholly, it shall answer. */
  end(reason: unknown): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort(reason);
    void this.#cut();
    this.#lateness = setTimeout(() => this.#late.abort(reason), GRACE);
  }

  /** Cuts what need not be sent, again and again: what is being signed is not sent yet. */
  async #cut(): Promise<void> {
    while (!this.#isFree) {
      // Whether something was sent wholly is known after the system was asked, at the end of a turn.
      await setImmediate();
      if (!this.#isFree && this.#store.cutUnsent(this.#isLast)) this.#wasCut = true;
      await sleep(CUT_INTERVAL);
    }
  }

  /** Nothing is waited for any more. */
  free(): void {
    this.#isFree = true;
    clearTimeout(this.#lateness);
  }

  /** Takes bytes as fast as they are sent. */
  async write(bytes: AsyncIterable<Uint8Array>): Promise<void> {
    const iterator = bytes[Symbol.asyncIterator]();
    for (;;) {
      // The next bytes may take long. A part that fails meanwhile ends it.
      const next = await unlessAborted(iterator.next(), this.#ended.signal);
      if (next.done) return;
      await this.#take(next.value);
    }
  }

  async #take(bytes: Uint8Array): Promise<void> {
    for (let taken = 0; taken < bytes.length; ) {
      // A part is sent when there is more to come, so that the last one is never empty.
      if (this.#filled === this.#plan.partSize) await this.#sendPart();
      this.#part ??= this.#free.pop() ?? Buffer.allocUnsafeSlow(this.#plan.partSize);
      const chunk = bytes.subarray(taken, taken + this.#plan.partSize - this.#filled);
      this.#part.set(chunk, this.#filled);
      this.#filled += chunk.length;
      taken += chunk.length;
    }
  }

  /** Begins to send what there is, as soon as fewer parts than may be are being sent. */
  async #sendPart(): Promise<void> {
    while (this.#sending.size >= this.#most) await Promise.race(this.#sending);
    this.#ended.signal.throwIfAborted();
    const [part, length] = [this.#part ?? Buffer.alloc(0), this.#filled];
    [this.#part, this.#filled] = [undefined, 0];
    const completed: CompletedPart = { PartNumber: this.#parts.length + 1 };
    this.#parts.push(completed);
    const sending = this.#upload(part.subarray(0, length), completed).then(
      // Only what was answered well is not in use any more.
      () => void this.#free.push(part),
      (error) => this.end(error),
    );
    this.#sending.add(sending);
    void sending.then(() => this.#sending.delete(sending));
  }

  async #upload(Body: Buffer, completed: CompletedPart): Promise<void> {
    this.#id ??= this.#create();
    const UploadId = await this.#id;
    const { PartNumber } = completed;
    const input = { ...this.#target, UploadId, PartNumber, Body };
    const answer = await this.#store.send(
      (s3, options) => s3.uploadPart(input, options),
      this.#ended.signal,
      this.#late.signal,
    );
    completed.ETag = answer.ETag;
    completed.ChecksumCRC32 = answer.ChecksumCRC32;
  }

  /** Begins the upload. */
  async #create(): Promise<string> {
    const { UploadId } = await this.#store.send(
      async (s3, options) => {
        // What the SDK sends with each part, if it does: without it, services compare nothing at the end.
        const isChecked = (await s3.config.requestChecksumCalculation()) === "WHEN_SUPPORTED";
        const checksum = isChecked ? { ChecksumAlgorithm: "CRC32" as const } : {};
        return s3.createMultipartUpload({ ...this.#target, ...checksum }, options);
      },
      this.#ended.signal,
      this.#late.signal,
    );
    if (UploadId !== undefined) return UploadId;
    throw new SnapshotError("ERR_TARGET", `${this.#store.name}: expected an upload, found none`);
  }

  /** Has the object appear. */
  async complete(): Promise<void> {
    this.#ended.signal.throwIfAborted();
    if (this.#id === undefined) return this.#put();
    if (this.#filled > 0) await this.#sendPart();
    await Promise.all(this.#sending);
    this.#ended.signal.throwIfAborted();
    const UploadId = await this.#id;
    const MultipartUpload = { Parts: this.#parts };
    const input = { ...this.#target, ...this.#condition, UploadId, MultipartUpload };
    await this.#commit(
      (s3, options) => s3.completeMultipartUpload(input, options),
      () => tagOfParts(this.#parts),
    );
  }

  async #put(): Promise<void> {
    const Body = (this.#part ?? Buffer.alloc(0)).subarray(0, this.#filled);
    const input = { ...this.#target, ...this.#condition, Body };
    await this.#commit(
      (s3, options) => s3.putObject(input, options),
      () => createHash("md5").update(Body).digest("hex"),
    );
  }

  /**
   * Sends what the object appears with. If an answer was lost and the next try finds that there is nothing
   * left to do, or something there, it is looked at: it may be this very object.
   */
  async #commit(call: Parameters<ObjectStore["send"]>[0], tag: () => string): Promise<void> {
    let tries = 0;
    this.#isLast = true;
    try {
      await this.#store.send(
        (s3, options) => {
          tries += 1;
          return call(s3, options);
        },
        this.#ended.signal,
        this.#late.signal,
      );
    } catch (error) {
      const { status } = Object(error) as { readonly status?: unknown };
      if (tries > 1 && (status === 404 || status === 412) && (await this.#hasTag(tag()))) return;
      throw error;
    }
  }

  async #hasTag(tag: string): Promise<boolean> {
    try {
      const { ETag } = await this.#store.send(
        (s3, options) => s3.headObject(this.#target, options),
        this.#ended.signal,
        this.#late.signal,
      );
      return ETag !== undefined && unquoted(ETag) === tag;
    } catch {
      return false;
    }
  }

  /** Has the service forget what was sent, when it is done with all of it. */
  async discard(): Promise<void> {
    await Promise.all(this.#sending);
    const UploadId = await this.#id?.catch(() => undefined);
    this.free();
    if (UploadId === undefined) return;
    const input = { ...this.#target, UploadId };
    const deadline = AbortSignal.timeout(GRACE);
    try {
      for (let times = 0; times < (this.#wasCut ? MAX_FORGETS : 1); times += 1) {
        if (times > 0) await sleep(FORGET_INTERVAL);
        await this.#store.send(
          (s3, options) => s3.abortMultipartUpload(input, options),
          deadline,
          deadline,
        );
      }
    } catch {
      // It is forgotten, or will be by whoever has the bucket.
    }
  }
}

/** What S3 tags an object of parts with: the MD5 of those of its parts, and their number. */
function tagOfParts(parts: readonly CompletedPart[]): string {
  const hash = createHash("md5");
  for (const { ETag = "" } of parts) hash.update(unquoted(ETag), "hex");
  return `${hash.digest("hex")}-${parts.length}`;
}

function unquoted(tag: string): string {
  return tag.replaceAll('"', "");
}
