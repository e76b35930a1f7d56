/** Buckets of S3, and of services with its interface. */
import { unlessAborted } from "../abort.js";
import { SnapshotError } from "../error.js";
import { requestTo, type ServerRequest } from "../http/request.js";
import { forUploads, type S3Options, type Transfer } from "../http/transfer.js";
import { SECOND } from "./failure.js";
import {
  type Call,
  type CopySource,
  type ListFrom,
  type ListPage,
  nameOf,
  type ObjectService,
  type StoredObject,
  tooLong,
  type UploadPlan,
  type WriteBytes,
} from "./object-service.js";
import { MAX_PARTS, MIN_PART_SIZE, S3Object } from "./s3-object.js";
import { presignedGet } from "./s3-presign.js";
import { copyWhole, UnsupportedCopy, uploadWhole } from "./s3-upload.js";

/** The part of an error or a result of the SDK that has the status of the response. */
interface SdkResponse {
  readonly $metadata?: { readonly httpStatusCode?: number };
}

type Send<T> = Parameters<typeof S3Object.prototype.send<T>>[0];

const NEVER = new AbortController().signal;

/** A bucket of S3. */
export class S3Service implements ObjectService {
  readonly parts = { max: MAX_PARTS, minSize: MIN_PART_SIZE };
  readonly unusedTag = `"${"0".repeat(32)}"`;
  readonly #bucket: string;
  readonly #options: S3Options | undefined;
  readonly #transfer: Transfer;
  /** The client for all but large uploads, once it was needed. */
  #opened: Promise<S3Object> | undefined;
  #client: S3Object | undefined;

  constructor(bucket: string, options: S3Options | undefined, transfer: Transfer) {
    this.#bucket = bucket;
    this.#options = options;
    this.#transfer = transfer;
  }

  get now(): number | undefined {
    return this.#client?.now;
  }

  async request(key: string, signal: AbortSignal | undefined): Promise<ServerRequest> {
    return requestTo(await presignedGet(this.#at(key), this.#options, signal));
  }

  read(key: string, maxLength: number, call: Call): Promise<StoredObject> {
    const [Bucket, Key] = [this.#bucket, key];
    return this.#send(key, call, async (s3, options) => {
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
        if (Math.max(length, ContentLength ?? 0) > maxLength)
          throw tooLong(nameOf(this.#at(key)), maxLength, ContentLength);
        chunks.push(chunk);
      }
      return { bytes: Buffer.concat(chunks), tag: ETag ?? "", modified: modifiedOf(LastModified) };
    });
  }

  size(key: string, call: Call): Promise<number> {
    const [Bucket, Key] = [this.#bucket, key];
    return this.#send(key, call, async (s3, options) => {
      const { ContentLength } = await s3.headObject({ Bucket, Key }, options);
      if (ContentLength !== undefined) return ContentLength;
      // Some proxies remove it. A range tells the size, too.
      const first = await s3.getObject({ Bucket, Key, Range: "bytes=0-0" }, options);
      for await (const _ of (first.Body ?? []) as AsyncIterable<Buffer>);
      const [, size] = /\/(\d{1,16})$/.exec(first.ContentRange ?? "") ?? [];
      if (size !== undefined) return Number(size);
      const message = `${nameOf(this.#at(key))}: the service does not tell its size`;
      throw new SnapshotError("ERR_STORE", message);
    });
  }

  write(key: string, bytes: Uint8Array, tag: string | undefined, call: Call): Promise<string> {
    const condition = tag === undefined ? { IfNoneMatch: "*" } : { IfMatch: tag };
    const ContentType = "application/json";
    const put = { Bucket: this.#bucket, Key: key, Body: bytes, ContentType, ...condition };
    return this.#send(key, call, async (s3, options) => {
      const { ETag } = await s3.putObject(put, options);
      return ETag ?? "";
    });
  }

  delete(key: string, call: Call): Promise<void> {
    return this.#send(key, call, async (s3, options) => {
      await s3.deleteObject({ Bucket: this.#bucket, Key: key }, options);
    });
  }

  async list(prefix: string, { after, token }: ListFrom, call: Call): Promise<ListPage> {
    const request = {
      ...{ Bucket: this.#bucket, Prefix: prefix },
      ...(after === undefined ? {} : { StartAfter: after }),
      ...(token === undefined ? {} : { ContinuationToken: token }),
    };
    const page = await this.#page(prefix, call, (s3, o) => s3.listObjectsV2(request, o));
    const objects = (page.Contents ?? []).map(({ Key: key = "", Size: size = 0 }) => ({
      key,
      size,
    }));
    const { IsTruncated, NextContinuationToken: nextToken } = page;
    // Some services state only one of them.
    if (!(IsTruncated ?? nextToken)) return { objects, next: undefined };
    // Without a token, or with an empty one, the last key tells where the list continues.
    const last = objects.at(-1)?.key;
    if (nextToken ? nextToken === token : !last || last === after) throw this.#endlessList(prefix);
    return { objects, next: nextToken ? { after, token: nextToken } : { after: last } };
  }

  async upload<T>(
    key: string,
    plan: UploadPlan,
    make: (write: WriteBytes) => Promise<T>,
  ): Promise<T> {
    // The responses to large uploads may take longer.
    const isLarge = plan.size > MIN_PART_SIZE;
    const object = isLarge
      ? await this.#openUploads(key, plan.signal, true)
      : (await this.#open(plan.signal)).at(this.#at(key));
    try {
      return await uploadWhole(object, plan, make);
    } finally {
      if (isLarge) object.close();
    }
  }

  async copy(key: string, source: CopySource, plan: UploadPlan): Promise<boolean> {
    const object = await this.#openUploads(key, plan.signal, false);
    try {
      await copyWhole(object, plan, source);
      return true;
    } catch (error) {
      if (error instanceof UnsupportedCopy) return false;
      throw error;
    } finally {
      object.close();
    }
  }

  async abortUploads(prefix: string, before: number, dryRun: boolean, call: Call): Promise<number> {
    const Bucket = this.#bucket;
    let count = 0;
    for (let marker: { KeyMarker?: string; UploadIdMarker?: string } = {}; ; ) {
      const wanted = { Bucket, Prefix: prefix, ...marker };
      const page = await this.#page(prefix, call, (s3, o) => s3.listMultipartUploads(wanted, o));
      for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
        if (Key === undefined || UploadId === undefined) continue;
        if (modifiedOf(Initiated) > before) continue;
        count += 1;
        if (!dryRun) await this.#abort(Key, UploadId, call);
      }
      const { NextKeyMarker, NextUploadIdMarker, IsTruncated } = page;
      if (!(IsTruncated ?? NextKeyMarker)) return count;
      const isSame =
        NextKeyMarker === marker.KeyMarker && NextUploadIdMarker === marker.UploadIdMarker;
      if (!NextKeyMarker || isSame) throw this.#endlessList(prefix);
      marker = {
        KeyMarker: NextKeyMarker,
        ...(NextUploadIdMarker ? { UploadIdMarker: NextUploadIdMarker } : {}),
      };
    }
  }

  close(): void {
    void this.#opened?.then((client) => client.close()).catch(() => {});
  }

  async #abort(Key: string, UploadId: string, call: Call): Promise<void> {
    const input = { Bucket: this.#bucket, Key, UploadId };
    try {
      await this.#send(Key, call, (s3, options) => s3.abortMultipartUpload(input, options));
    } catch (error) {
      // It was completed or aborted meanwhile.
      if ((error as SnapshotError).status !== 404) throw error;
    }
  }

  /**
   * Requests a page of a list. An empty response must not be read as an empty list: a collection would delete
   * everything.
   */
  #page<T extends object>(prefix: string, call: Call, send: Send<T>): Promise<T> {
    return this.#send(prefix, call, async (s3, options) => {
      const page = await send(s3, options);
      const { $metadata, ...members } = page as T & SdkResponse;
      if (Object.values(members).some((member) => member !== undefined)) return page;
      throw Object.assign(new Error("expected a list, found nothing"), { $metadata });
    });
  }

  #endlessList(prefix: string): SnapshotError {
    const message = `${nameOf(this.#at(prefix))}: the service does not tell how a list continues`;
    return new SnapshotError("ERR_STORE", message);
  }

  #at(key: string) {
    return { service: "s3", bucket: this.#bucket, key } as const;
  }

  async #send<T>(key: string, call: Call, send: Send<T>): Promise<T> {
    const { signal = NEVER, code = "ERR_STORE", repeats } = call;
    const client = await this.#open(signal);
    return client.at(this.#at(key)).send(send, signal, signal, code, repeats);
  }

  /** Opens the client for all but large uploads. */
  async #open(signal: AbortSignal | undefined): Promise<S3Object> {
    this.#opened ??= S3Object.open(this.#at(""), this.#options, this.#transfer, undefined).catch(
      (error: unknown) => {
        this.#opened = undefined;
        throw error;
      },
    );
    this.#client = await unlessAborted(this.#opened, signal);
    return this.#client;
  }

  /** Opens a client for an upload, which the caller closes: its failure closes all connections. */
  #openUploads(key: string, signal: AbortSignal | undefined, hasChecksums: boolean) {
    const transfer = forUploads(this.#transfer);
    return S3Object.open(this.#at(key), this.#options, transfer, signal, hasChecksums);
  }
}

/** Returns a time by which an object was certainly written. */
function modifiedOf(time: Date | undefined): number {
  return time === undefined ? Number.POSITIVE_INFINITY : time.getTime() + SECOND;
}
