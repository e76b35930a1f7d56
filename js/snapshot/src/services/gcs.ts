/** Buckets of Google Cloud Storage, through Google's client. */
import type { ApiError, File, Storage } from "@google-cloud/storage";

import { unlessAborted } from "../abort.js";
import { SnapshotError } from "../error.js";
import { requestTo, type ServerRequest } from "../http/request.js";
import { retryAfter } from "../http/retry.js";
import { forUploads, type GcsOptions, type Transfer } from "../http/transfer.js";
import { named, readObject, ServiceFailure, sendCall, uploadError } from "./failure.js";
import {
  type Call,
  type CopySource,
  type ListFrom,
  type ListPage,
  nameOf,
  type ObjectService,
  type StoredObject,
  type UploadPlan,
  type WriteBytes,
} from "./object-service.js";
import { ServerClock } from "./server-clock.js";

/** The parts of resumable uploads are multiples of this, in bytes. */
const PART_UNIT = 2 ** 18;

/** Objects that anybody may read would be cached for an hour, even for their owner. */
const METADATA = { cacheControl: "no-store", contentType: "application/octet-stream" };

/** Google's client and its module. */
interface Client {
  readonly module: typeof import("@google-cloud/storage");
  readonly options: import("@google-cloud/storage").StorageOptions;
  readonly storage: Storage;
}

/** The clients of this process, by their options: they share tokens and connections. */
const clients = new Map<string, Client>();

function storageOf(module: Client["module"], options: Client["options"]): Storage {
  const storage = new module.Storage(options);
  // With STORAGE_EMULATOR_HOST, it lacks the path.
  storage.baseUrl = `${storage.apiEndpoint}/storage/v1`;
  return storage;
}

/** A bucket of Google Cloud Storage. */
export class GcsService implements ObjectService {
  readonly parts = { max: Number.POSITIVE_INFINITY, minSize: PART_UNIT };
  readonly unusedTag = "1";
  readonly #clock = new ServerClock();

  private constructor(
    private readonly bucket: string,
    private readonly client: Client,
    private readonly transfer: Transfer,
  ) {}

  /** Loads Google's client. @throws {SnapshotError} `ERR_ARGUMENT` if its options are invalid */
  static async open(
    bucket: string,
    options: GcsOptions | undefined,
    transfer: Transfer,
  ): Promise<GcsService> {
    const { endpoint, credentials } = options ?? {};
    const key = JSON.stringify([endpoint, credentials, transfer.timeouts]);
    const known = clients.get(key);
    if (known !== undefined) return new GcsService(bucket, known, transfer);
    const module = await import("@google-cloud/storage");
    const isSecret = endpoint !== undefined && new URL(endpoint).protocol === "https:";
    const storageOptions = {
      // A token must not be sent without TLS: servers on a test machine ask for none.
      ...(endpoint && { apiEndpoint: String(endpoint), useAuthWithCustomEndpoint: isSecret }),
      ...(credentials && { credentials: { ...credentials } }),
      timeout: transfer.timeouts.firstByte,
      // Retries are counted here, like those of other services.
      retryOptions: { autoRetry: false },
    };
    const client = { module, options: storageOptions, storage: storageOf(module, storageOptions) };
    clients.set(key, client);
    return new GcsService(bucket, client, transfer);
  }

  get now(): number | undefined {
    return this.#clock.now();
  }

  async request(key: string, signal: AbortSignal | undefined): Promise<ServerRequest> {
    const { apiEndpoint, authClient, customEndpoint, useAuthWithCustomEndpoint } =
      this.client.storage;
    const path = [this.bucket, ...key.split("/")].map(encodeURIComponent).join("/");
    const url = new URL(`${apiEndpoint}/${path}`);
    if (customEndpoint && !useAuthWithCustomEndpoint) return requestTo(url);
    try {
      const headers = await unlessAborted(authClient.getRequestHeaders(url.href), signal);
      return requestTo(url, headers);
    } catch (error) {
      signal?.throwIfAborted();
      const { cause } = gcsFailure(error);
      const message =
        "gcs.credentials: no valid credentials found; set this option, GOOGLE_APPLICATION_CREDENTIALS, or run " +
        "gcloud auth application-default login";
      throw new SnapshotError("ERR_ARGUMENT", message, { cause });
    }
  }

  async read(key: string, maxLength: number, call: Call): Promise<StoredObject> {
    const request = await this.request(key, call.signal);
    return this.#send(key, call, () =>
      readObject(
        request,
        nameOf(this.#at(key)),
        maxLength,
        this.transfer,
        call.signal,
        (headers) => {
          this.#clock.observe(headers.date);
          return String(headers["x-goog-generation"]);
        },
      ),
    );
  }

  size(key: string, call: Call): Promise<number> {
    return this.#send(key, call, async () => {
      const [{ size }, response] = await this.#file(key).getMetadata();
      this.#observe(response);
      return Number(size);
    });
  }

  write(key: string, bytes: Uint8Array, tag: string | undefined, call: Call): Promise<string> {
    const save = async () => {
      const file = this.#file(key);
      await file.save(Buffer.from(bytes), {
        resumable: false,
        validation: false,
        metadata: { ...METADATA, contentType: "application/json" },
        preconditionOpts: { ifGenerationMatch: tag ?? 0 },
      });
      return String(file.metadata.generation);
    };
    return this.#send(key, call, save, tag === undefined);
  }

  delete(key: string, call: Call): Promise<void> {
    return this.#send(key, call, async () => {
      const [response] = await this.#file(key).delete();
      this.#observe(response);
    });
  }

  list(prefix: string, { after, token }: ListFrom, call: Call): Promise<ListPage> {
    return this.#send(prefix, call, async () => {
      const [files, next, response] = await this.client.storage.bucket(this.bucket).getFiles({
        prefix,
        autoPaginate: false,
        ...(after && { startOffset: after }),
        ...(token && { pageToken: token }),
      });
      this.#observe(response);
      const objects = files.map(({ name, metadata }) => ({
        key: name,
        size: Number(metadata.size),
      }));
      const { pageToken } = Object(next) as { readonly pageToken?: string };
      return {
        // The list begins at the key, and not after it.
        objects: objects.filter((object) => object.key !== after),
        next: pageToken === undefined ? undefined : { after, token: pageToken },
      };
    });
  }

  async upload<T>(
    key: string,
    plan: UploadPlan,
    make: (write: WriteBytes) => Promise<T>,
  ): Promise<T> {
    const { CRC32C } = this.client.module;
    const file = this.#uploads(plan.overwrite).bucket(this.bucket).file(key);
    if (this.client.options.useAuthWithCustomEndpoint) {
      // For uploads, the client takes every endpoint that is not Google's for one without authorisation.
      const { secret } = await this.request(key, plan.signal);
      file.interceptors.push({
        request: (options) => ({ ...options, headers: { ...options.headers, ...secret } }) as never,
      });
    }
    const chunkSize = Math.ceil(plan.partSize / PART_UNIT) * PART_UNIT;
    const stream = file.createWriteStream({
      chunkSize,
      // The client would delete whatever object it finds after a mismatch.
      validation: false,
      metadata: METADATA,
      ...(plan.overwrite ? {} : { preconditionOpts: { ifGenerationMatch: 0 } }),
    });
    const event = (name: string) => new Promise((resolve) => stream.once(name, resolve));
    // It may come while `make` is busy.
    const failed = event("error").then((error) => {
      throw uploadError(gcsFailure(error, true), this.#at(key), plan);
    });
    failed.catch(() => {});
    const finished = event("finish");
    const abort = () => stream.destroy(plan.signal?.reason);
    plan.signal?.addEventListener("abort", abort, { once: true });
    const checksum = new CRC32C();
    try {
      plan.signal?.throwIfAborted();
      const result = await make(async (bytes) => {
        for await (const chunk of bytes) {
          const part = Buffer.from(chunk);
          checksum.update(part);
          if (!stream.write(part)) await Promise.race([event("drain"), failed]);
        }
      });
      stream.end();
      await Promise.race([finished, failed]);
      await this.#checkUploaded(key, file, checksum.toString(), plan);
      return result;
    } catch (error) {
      stream.destroy();
      plan.signal?.throwIfAborted();
      throw error;
    } finally {
      plan.signal?.removeEventListener("abort", abort);
    }
  }

  async copy(key: string, { location, etag }: CopySource, plan: UploadPlan): Promise<boolean> {
    const call = { signal: plan.signal, code: "ERR_TARGET" } as const;
    return this.#send(key, call, async () => {
      const bucket = this.client.storage.bucket(location.bucket);
      const [{ md5Hash, generation }] = await bucket.file(location.key).getMetadata();
      // Composite objects have no MD5, and the ETag of an object with a key of the customer is not its MD5. Reading the
      // object instead detects a change.
      const md5 = Buffer.from(md5Hash ?? "", "base64").toString("hex");
      if (md5 !== etag.replaceAll('"', "") || generation === undefined) return false;
      await bucket
        .file(location.key, { generation })
        .copy(this.#file(key), { preconditionOpts: { ifGenerationMatch: 0 } });
      return true;
    });
  }

  /** Google removes incomplete uploads after a week. */
  async abortUploads(): Promise<number> {
    return 0;
  }

  /** The client belongs to the process. Its idle connections do not keep it running. */
  close(): void {}

  #at(key: string) {
    return { service: "gs", bucket: this.bucket, key } as const;
  }

  #file(key: string): File {
    return this.client.storage.bucket(this.bucket).file(key);
  }

  /** Returns a client that continues uploads by itself, with the tokens of the other one. */
  #uploads(overwrite: boolean): Storage {
    const { module, options, storage } = this.client;
    const { RetryAlways, RetryConditional } = module.IdempotencyStrategy;
    return storageOf(module, {
      ...options,
      authClient: storage.authClient as never,
      timeout: forUploads(this.transfer).timeouts.firstByte,
      retryOptions: {
        maxRetries: this.transfer.retries,
        // The same bytes are written again, or the service refuses it.
        idempotencyStrategy: overwrite ? RetryAlways : RetryConditional,
      },
    });
  }

  /** Throws if an upload has other bytes than were sent, and deletes it. */
  async #checkUploaded(key: string, file: File, expected: string, plan: UploadPlan): Promise<void> {
    const { crc32c, generation } = file.metadata;
    if (crc32c === undefined || crc32c === expected || generation === undefined) return;
    const call = { signal: plan.signal, code: "ERR_TARGET" } as const;
    await this.#send(key, call, () => file.delete({ ifGenerationMatch: generation }));
    const message = `${nameOf(this.#at(key))}: the upload was damaged on the way: its CRC32C differs`;
    throw new SnapshotError("ERR_TARGET", message);
  }

  #send<T>(key: string, call: Call, attempt: () => Promise<T>, creates = false): Promise<T> {
    const calling = {
      retries: this.transfer.retries,
      location: this.#at(key),
      failureOf: (error: unknown) => {
        this.#observe((Object(error) as ApiError).response);
        return gcsFailure(error, creates);
      },
    };
    // The client cannot cancel a request.
    return sendCall(calling, call, () => unlessAborted(attempt(), call.signal));
  }

  /** Notes the time of a response of the client. */
  #observe(response: unknown): void {
    const { headers } = Object(response) as { readonly headers?: Record<string, string> };
    this.#clock.observe(headers?.date);
  }
}

/**
 * Describes what Google's client throws: errors, and objects with their members.
 *
 * @param creates whether the request makes an object: only the bucket can be missing then
 */
function gcsFailure(error: unknown, creates = false): ServiceFailure {
  const {
    code,
    message = "",
    errors,
    response,
    type,
  } = Object(error) as Partial<ApiError> & {
    readonly type?: unknown;
  };
  const { status: found = code, headers } = Object(response) as {
    readonly status?: unknown;
    readonly headers?: Readonly<Record<string, string>>;
  };
  const status = /^[1-5]\d\d$/.test(String(found)) ? Number(found) : undefined;
  const isBucket = status === 404 && (creates || /bucket does not exist/i.test(message));
  const name = isBucket ? "NoSuchBucket" : errors?.[0]?.reason;
  return new ServiceFailure(name === undefined ? error : named(message, name), {
    status,
    hasCode: name !== undefined,
    // A request that collided with another one, or a response that was cut off.
    isTransient: status === 409 || type === "invalid-json",
    retryAfter: retryAfter(headers?.["retry-after"], Date.now()),
  });
}
