/** Containers of Azure Blob Storage, through Azure's client. */
import { randomUUID } from "node:crypto";

import type { TokenCredential } from "@azure/identity";
import type { BlockBlobClient, ContainerClient, RestError } from "@azure/storage-blob";

import { unlessAborted } from "../abort.js";
import { SnapshotError } from "../error.js";
import { requestTo, type ServerRequest } from "../http/request.js";
import { retryAfter } from "../http/retry.js";
import { type AzureOptions, forUploads, type Transfer } from "../http/transfer.js";
import { existsError, named, readObject, ServiceFailure, sendCall } from "./failure.js";
import {
  type Call,
  type ListFrom,
  type ListPage,
  nameOf,
  type ObjectService,
  type StoredObject,
  type UploadPlan,
  type WriteBytes,
} from "./object-service.js";
import { clockOf, ServerClock, signingTime } from "./server-clock.js";
import { UploadParts } from "./upload-parts.js";

/** How long a signature of an account key is valid, in milliseconds, and after which time it is renewed. */
const SIGNATURE_LIFETIME = 7 * 86_400_000;
const SIGNATURE_AGE = 86_400_000;

/** What a signature allows: read, add, create, write, delete, list. */
const PERMISSIONS = "racwdl";

/** The version of the service's interface for requests without its client. */
const VERSION = "2023-11-03";

/** The scope of tokens. */
const SCOPE = "https://storage.azure.com/.default";

/** The field with the ID of an upload: it tells whose object is found after a lost response. */
const UPLOAD_ID = "hedgerow";

/** How requests are authorised: by the key of the account, a SAS, or tokens. */
type Access =
  | { readonly kind: "key"; readonly account: string; readonly key: string }
  | { readonly kind: "sas"; readonly sas: string }
  | { readonly kind: "token"; readonly credential: TokenCredential };

/** Credentials that look for tokens keep them, so that a process has one. */
let defaultCredential: Promise<TokenCredential> | undefined;

/** A container of Azure Blob Storage. */
export class AzureService implements ObjectService {
  readonly parts = { max: 50_000, minSize: 2 ** 16 };
  readonly unusedTag = '"0x1"';
  readonly #clock = new ServerClock();
  #signed: { readonly sas: string; readonly time: number; readonly isSkewed: boolean } | undefined;

  private constructor(
    private readonly module: typeof import("@azure/storage-blob"),
    /** The account and the container. */
    private readonly bucket: string,
    /** The URL of the container, without a signature. */
    private readonly url: string,
    private readonly access: Access,
    private readonly transfer: Transfer,
  ) {}

  /** Loads Azure's client. @throws {SnapshotError} `ERR_ARGUMENT` if its options are invalid */
  static async open(
    bucket: string,
    options: AzureOptions | undefined,
    transfer: Transfer,
  ): Promise<AzureService> {
    const module = await import("@azure/storage-blob");
    const [account = "", container = ""] = bucket.split("/");
    const settings = settingsOf(account, options);
    const url = `${settings.endpoint.replace(/\/$/, "")}/${container}`;
    return new AzureService(module, bucket, url, await accessOf(account, settings), transfer);
  }

  get now(): number | undefined {
    return this.#clock.now();
  }

  async request(key: string, signal: AbortSignal | undefined): Promise<ServerRequest> {
    const url = new URL(`${this.url}/${key.split("/").map(encodeURIComponent).join("/")}`);
    if (this.access.kind !== "token") {
      url.search = this.#sas(this.access);
      return { ...requestTo(url), lacksSuffixRanges: true };
    }
    try {
      const found = await unlessAborted(this.access.credential.getToken(SCOPE), signal);
      const headers = { authorization: `Bearer ${found?.token ?? ""}`, "x-ms-version": VERSION };
      return { ...requestTo(url, headers), lacksSuffixRanges: true };
    } catch (error) {
      signal?.throwIfAborted();
      const { cause } = azureFailure(error);
      const message =
        "azure.accountKey: no valid credentials found; set this option or sasToken, AZURE_STORAGE_KEY, " +
        "AZURE_STORAGE_CONNECTION_STRING, or run az login";
      throw new SnapshotError("ERR_ARGUMENT", message, { cause });
    }
  }

  read(key: string, maxLength: number, call: Call): Promise<StoredObject> {
    return this.#send(key, call, async () => {
      const request = await this.request(key, call.signal);
      const name = nameOf(this.#at(key));
      return readObject(request, name, maxLength, this.transfer, call.signal, (headers) => {
        this.#clock.observe(headers.date);
        return headers.etag ?? "";
      });
    });
  }

  size(key: string, call: Call): Promise<number> {
    return this.#send(key, call, async () => {
      const found = await this.#blob(key).getProperties(signalOf(call));
      this.#observe(found.date);
      return found.contentLength ?? 0;
    });
  }

  write(key: string, bytes: Uint8Array, tag: string | undefined, call: Call): Promise<string> {
    const conditions = tag === undefined ? { ifNoneMatch: "*" } : { ifMatch: tag };
    const blobHTTPHeaders = { blobContentType: "application/json" };
    return this.#send(key, call, async () => {
      const options = { ...signalOf(call), conditions, blobHTTPHeaders };
      const written = await this.#blob(key).upload(Buffer.from(bytes), bytes.length, options);
      this.#observe(written.date);
      return written.etag ?? "";
    });
  }

  delete(key: string, call: Call): Promise<void> {
    return this.#send(key, call, async () => {
      const { date } = await this.#blob(key).delete(signalOf(call));
      this.#observe(date);
    });
  }

  list(prefix: string, { after, token }: ListFrom, call: Call): Promise<ListPage> {
    return this.#send(prefix, call, async () => {
      const pages = this.#container()
        .listBlobsFlat({ prefix, ...signalOf(call) })
        .byPage(token === undefined ? {} : { continuationToken: token });
      for await (const { segment, continuationToken, date } of pages) {
        this.#observe(date);
        const objects = segment.blobItems.map(({ name, properties }) => ({
          key: name,
          size: properties.contentLength ?? 0,
        }));
        return {
          // The service has no place to begin at.
          objects: objects.filter(({ key }) => after === undefined || key > after),
          next: continuationToken ? { after, token: continuationToken } : undefined,
        };
      }
      throw new Error("expected a list, found nothing");
    });
  }

  async upload<T>(
    key: string,
    plan: UploadPlan,
    make: (write: WriteBytes) => Promise<T>,
  ): Promise<T> {
    const upload: BlockUpload = new BlockUpload(plan, (action) =>
      this.#send(key, { signal: upload.parts.signal, code: "ERR_TARGET" }, () =>
        action(this.#blob(key, true), upload.parts.signal),
      ),
    );
    return upload.parts.run(async () => {
      const result = await make((bytes) => upload.parts.write(bytes));
      await upload.commit().catch(async (error: unknown) => {
        const isThere = error instanceof SnapshotError && error.status === 412 && !plan.overwrite;
        if (!isThere) throw error;
        if (!(await this.#isOwn(key, upload.id, plan.signal))) throw existsError(this.#at(key));
      });
      return result;
    });
  }

  /** Copies of large blobs would be visible before they are complete. */
  async copy(): Promise<false> {
    return false;
  }

  /** Azure removes blocks that were not committed after a week. */
  async abortUploads(): Promise<number> {
    return 0;
  }

  /** The client has no connections that keep the process running. */
  close(): void {}

  get #origin(): string {
    return new URL(this.url).origin;
  }

  #at(key: string) {
    return { service: "az", bucket: this.bucket, key } as const;
  }

  /** Returns a client that sends each request once, because retries are counted here. */
  #container(isUpload = false): ContainerClient {
    const { ContainerClient } = this.module;
    const transfer = isUpload ? forUploads(this.transfer) : this.transfer;
    const { connect, firstByte } = transfer.timeouts;
    const options = { retryOptions: { maxTries: 1, tryTimeoutInMs: connect + firstByte } };
    return this.access.kind === "token"
      ? new ContainerClient(this.url, this.access.credential, options)
      : new ContainerClient(`${this.url}?${this.#sas(this.access)}`, undefined, options);
  }

  #blob(key: string, isUpload?: boolean): BlockBlobClient {
    return this.#container(isUpload).getBlockBlobClient(key);
  }

  /** Returns the signature of URLs. Only its end counts, so that a slow clock needs the time of the service. */
  #sas(access: Exclude<Access, { kind: "token" }>): string {
    if (access.kind === "sas") return access.sas;
    const { time, isSkewed, sas } = this.#signed ?? {};
    const now = signingTime(this.#origin);
    const isRecent = time !== undefined && Math.abs(Date.now() - time) < SIGNATURE_AGE;
    if (sas !== undefined && isRecent && isSkewed === (now !== undefined)) return sas;
    const { ContainerSASPermissions, generateBlobSASQueryParameters, StorageSharedKeyCredential } =
      this.module;
    const expiresOn = new Date((now?.getTime() ?? Date.now()) + SIGNATURE_LIFETIME);
    const values = {
      containerName: this.bucket.slice(this.bucket.indexOf("/") + 1),
      permissions: ContainerSASPermissions.parse(PERMISSIONS),
      expiresOn,
    };
    const credential = new StorageSharedKeyCredential(access.account, access.key);
    const signed = generateBlobSASQueryParameters(values, credential).toString();
    this.#signed = { sas: signed, time: Date.now(), isSkewed: now !== undefined };
    return signed;
  }

  /** Returns whether an object is the one of an upload: the response of an earlier attempt may have been lost. */
  async #isOwn(key: string, id: string, signal: AbortSignal | undefined): Promise<boolean> {
    const found = () => this.#blob(key).getProperties(signalOf({ signal }));
    const { metadata } = await this.#send(key, { signal, code: "ERR_TARGET" }, found);
    return metadata?.[UPLOAD_ID] === id;
  }

  #send<T>(key: string, call: Call, attempt: () => Promise<T>): Promise<T> {
    const { retries } = this.transfer;
    const calling = {
      retries,
      location: this.#at(key),
      failureOf: (error: unknown) => {
        const { response } = Object(error) as Partial<RestError>;
        for (const clock of [this.#clock, clockOf(this.#origin)])
          clock.observe(response?.headers.get("date"));
        const isSkewed =
          this.#signed?.isSkewed === false && signingTime(this.#origin) !== undefined;
        return azureFailure(error, isSkewed);
      },
    };
    return sendCall(calling, call, attempt);
  }

  #observe(date: Date | undefined): void {
    this.#clock.observe(date?.toUTCString());
  }
}

/** Sends a request of an upload, and sends it again after transient failures. */
type SendBlock = (
  action: (blob: BlockBlobClient, abortSignal: AbortSignal) => Promise<unknown>,
) => Promise<unknown>;

/** Uploads an object: blocks while more is written, and then a list of them, with which the object appears. */
class BlockUpload {
  /** The object has it, and its blocks begin with it. */
  readonly id = randomUUID();
  readonly parts: UploadParts;
  readonly #blocks: string[] = [];

  constructor(
    private readonly plan: UploadPlan,
    private readonly send: SendBlock,
  ) {
    this.parts = new UploadParts(plan, (part) => this.#sendBlock(part));
  }

  /** Lets the object appear. */
  async commit(): Promise<void> {
    const options = {
      metadata: { [UPLOAD_ID]: this.id },
      ...(this.plan.overwrite ? {} : { conditions: { ifNoneMatch: "*" } }),
    };
    this.parts.signal.throwIfAborted();
    const isWhole = this.#blocks.length === 0;
    if (!isWhole) await this.parts.finish();
    const { rest } = this.parts;
    await this.send((blob, abortSignal) =>
      isWhole
        ? blob.upload(rest, rest.length, { ...options, abortSignal })
        : blob.commitBlockList(this.#blocks, { ...options, abortSignal }),
    );
  }

  async #sendBlock(part: Uint8Array): Promise<void> {
    // All have the same length, as the service requires.
    const name = `${this.id}${String(this.#blocks.length).padStart(6, "0")}`;
    const block = Buffer.from(name).toString("base64");
    this.#blocks.push(block);
    await this.send((blob, abortSignal) =>
      blob.stageBlock(block, part, part.length, { abortSignal }),
    );
  }
}

/** Returns the option of the client for a signal. */
function signalOf({ signal }: Call) {
  return signal === undefined ? {} : { abortSignal: signal };
}

/** Options with their defaults from the environment, as Azure's command line reads it. */
interface Settings {
  readonly endpoint: string;
  readonly accountKey: string | undefined;
  readonly sasToken: string | undefined;
}

function settingsOf(account: string, options: AzureOptions | undefined): Settings {
  const { AZURE_STORAGE_CONNECTION_STRING: connection = "" } = process.env;
  const { AZURE_STORAGE_ACCOUNT: own, AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN } = process.env;
  const parts = new Map(
    connection.split(";").map((part) => {
      const at = part.indexOf("=");
      return [part.slice(0, at), part.slice(at + 1)] as const;
    }),
  );
  const isOwn = (parts.get("AccountName") ?? account) === account;
  const part = (name: string) => (isOwn ? parts.get(name) || undefined : undefined);
  const isNamed = own === undefined || own === account;
  const endpoint =
    String(options?.endpoint ?? "") ||
    part("BlobEndpoint") ||
    `https://${account}.blob.${part("EndpointSuffix") ?? "core.windows.net"}`;
  if (options?.accountKey !== undefined || options?.sasToken !== undefined)
    return { endpoint, accountKey: options.accountKey, sasToken: options.sasToken };
  return {
    endpoint,
    accountKey: part("AccountKey") ?? (isNamed ? AZURE_STORAGE_KEY : undefined),
    sasToken: part("SharedAccessSignature") ?? (isNamed ? AZURE_STORAGE_SAS_TOKEN : undefined),
  };
}

async function accessOf(account: string, { accountKey, sasToken }: Settings): Promise<Access> {
  if (accountKey) return { kind: "key", account, key: accountKey };
  if (sasToken) return { kind: "sas", sas: sasToken.replace(/^\?/, "") };
  defaultCredential ??= import("@azure/identity").then(
    ({ DefaultAzureCredential }) => new DefaultAzureCredential(),
  );
  return { kind: "token", credential: await defaultCredential };
}

/** Describes what Azure's client throws. @param isTransient whether a retry may succeed whatever the status */
function azureFailure(error: unknown, isTransient = false): ServiceFailure {
  const { statusCode, code, response, name } = Object(error) as Partial<RestError>;
  // A blob that must not exist does.
  const status = code === "BlobAlreadyExists" ? 412 : statusCode;
  const isOfService = name === "RestError" && statusCode !== undefined && code !== undefined;
  return new ServiceFailure(isOfService ? named((error as Error).message, code) : error, {
    status,
    hasCode: isOfService,
    isTransient,
    retryAfter: retryAfter(response?.headers.get("retry-after"), Date.now()),
  });
}
