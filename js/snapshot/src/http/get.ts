/** `GET` requests: connections that are kept, redirects, retries, and downloads of whole objects. */
import { freeSpace, insufficientSpace } from "../local/disk-space.js";
import { SnapshotFile } from "../local/open-file.js";
import { openTemporaryFile, type TemporaryFile } from "../local/private-file.js";
import { writeFullySync } from "../local/read-write.js";
import { wrapSystemErrorsSync, wrapWriteErrors } from "../local/system-errors.js";
import { proxyFields } from "./agent.js";
import { ConnectionPool } from "./connection.js";
import { Download } from "./download.js";
import { type ResponseHead, requestFailureOf, responseFailure } from "./failure.js";
import { contentLength, strongEtag } from "./object-version.js";
import { followRedirects, Redirection, type ServerRequest } from "./request.js";
import { withRetries } from "./retry.js";
import type { Transfer } from "./transfer.js";

/** A URL and the headers for it. Plain values, which threads can share. */
export interface Endpoint {
  /** The whole URL, which may hold secrets. */
  readonly url: string;
  /** Headers of every request, which may hold secrets. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends `GET` requests to one URL, over connections that are kept alive. */
export class HttpClient {
  readonly #url: URL;
  readonly #connections: ConnectionPool;

  /** @param others clients whose connections it shares, if they use the same protocol */
  constructor(
    readonly endpoint: Endpoint,
    readonly timeouts: Transfer["timeouts"],
    others: readonly (HttpClient | undefined)[] = [],
  ) {
    this.#url = new URL(endpoint.url);
    const { protocol } = this.#url;
    const shared = others.find((other) => other !== undefined && other.#url.protocol === protocol);
    this.#connections =
      shared === undefined ? new ConnectionPool(protocol, timeouts.connect) : shared.#connections;
  }

  /** Creates a request, which `Download` sends. */
  get(headers: Readonly<Record<string, string>>): Download {
    const { host, pathname, search } = this.#url;
    const { proxyName, path, headers: proxyHeaders } = proxyFields(this.#url);
    const fields = Object.entries({
      host,
      connection: "keep-alive",
      // Ranges of a compressed response are not ranges of the object.
      "accept-encoding": "identity",
      ...this.endpoint.headers,
      ...headers,
      ...proxyHeaders,
    });
    const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
    const request = `GET ${path ?? pathname + search} HTTP/1.1\r\n${lines.join("")}\r\n`;
    return new Download(this.#connections.take(this.#url), request, this.timeouts, proxyName);
  }

  /** Closes idle connections, and those to proxies that no request holds yet. */
  close(): void {
    this.#connections.close();
  }
}

/** The statuses that redirect a `GET`. */
const REDIRECTS: ReadonlySet<unknown> = new Set([301, 302, 303, 307, 308]);

/** A response whose body has not been read yet. */
export interface OpenResponse {
  readonly response: ResponseHead;
  readonly download: Download;
  /** The request that was answered, after all redirects. */
  readonly request: ServerRequest;
  /** Leaves the connection open for further requests, and returns its client, which the caller closes. */
  keep(): HttpClient;
}

/**
 * Sends a `GET`, follows redirects, and passes the response to `use`, which takes the body at once. The connection is
 * closed when `use` is done, unless it was kept.
 *
 * @throws {RequestFailure} the signal's reason, and what `use` throws
 */
export function get<T>(
  first: ServerRequest,
  headers: Readonly<Record<string, string>>,
  { timeouts }: Transfer,
  signal: AbortSignal | undefined,
  use: (response: OpenResponse) => Promise<T>,
): Promise<T> {
  return followRedirects(first, async (request) => {
    signal?.throwIfAborted();
    const client = new HttpClient({ url: request.url.href, headers: request.secret }, timeouts);
    const download = client.get(headers);
    const cancel = () => download.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    let isKept = false;
    const keep = () => {
      isKept = true;
      return client;
    };
    try {
      return await download.response(async (response) =>
        REDIRECTS.has(response.statusCode)
          ? new Redirection(response)
          : use({ response, download, request, keep }),
      );
    } finally {
      signal?.removeEventListener("abort", cancel);
      download.cancel();
      if (!isKept) client.close();
    }
  });
}

/**
 * Returns the body of a response that must have the whole object, or undefined if it has more than `maxLength` bytes.
 *
 * @throws {RequestFailure}
 */
export async function wholeBody(
  { response, download }: OpenResponse,
  maxLength: number,
): Promise<Buffer | undefined> {
  if (response.statusCode !== 200) throw responseFailure(response);
  const chunks: Buffer[] = [];
  let length = 0;
  await download.body((chunk) => {
    length += chunk.length;
    if (length > maxLength) download.cancel();
    else chunks.push(Buffer.from(chunk));
  });
  return length > maxLength ? undefined : Buffer.concat(chunks);
}

/**
 * Reads from a server, and retries transient failures.
 *
 * @param name the name of the object in messages
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_SOURCE_CHANGED`, the signal's reason, and errors that are not
 *   the server's
 */
export function withReadRetries<T>(
  name: string,
  { retries }: Transfer,
  signal: AbortSignal | undefined,
  read: () => Promise<T>,
): Promise<T> {
  return withRetries(
    {
      retries,
      signal,
      failureOf: requestFailureOf,
      errorOf: (failure, failures) => failure.toError(`cannot read ${name}`, failures),
    },
    read,
  );
}

/** Requests only the first byte of an object: a presigned URL does not allow `HEAD`. */
const FIRST_BYTE = { range: "bytes=0-0" };

/** Statuses of a response to a request for the first byte: that byte, the whole object, an empty object. */
const FOUND: ReadonlySet<unknown> = new Set([206, 200, 416]);

/**
 * Returns the current strong ETag of an object, if it has one.
 *
 * @throws {SnapshotError} `ERR_SOURCE`, and the signal's reason
 */
export function fetchEtag(
  request: ServerRequest,
  name: string,
  transfer: Transfer,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  return withReadRetries(name, transfer, signal, () =>
    get(request, FIRST_BYTE, transfer, signal, async ({ response }) => {
      if (!FOUND.has(response.statusCode)) throw responseFailure(response);
      return strongEtag(response.headers.etag);
    }),
  );
}

/**
 * Returns the `Date` of a server's response, whatever its status, or undefined without a response.
 *
 * @throws the signal's reason
 */
export async function fetchDate(
  request: ServerRequest,
  transfer: Transfer,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  try {
    const dateOf = async ({ response }: OpenResponse) => response.headers.date;
    return await get(request, FIRST_BYTE, transfer, signal, dateOf);
  } catch {
    signal?.throwIfAborted();
    return undefined;
  }
}

/**
 * Downloads an object in one stream into a temporary file, for servers that do not support ranges. Closing the file
 * removes it.
 *
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_TARGET`
 */
export async function spool(
  request: ServerRequest,
  name: string,
  transfer: Transfer,
  signal: AbortSignal | undefined,
): Promise<SnapshotFile> {
  const file = await openTemporaryFile();
  try {
    await downloadInto(file, request, name, transfer, signal);
    return await SnapshotFile.of(name, file.handle);
  } catch (error) {
    await file.handle.close();
    throw error;
  }
}

/** Downloads an object in one stream into an open file. @throws {SnapshotError} `ERR_SOURCE`, `ERR_TARGET` */
export async function downloadInto(
  { path, handle }: TemporaryFile,
  request: ServerRequest,
  name: string,
  transfer: Transfer,
  signal: AbortSignal | undefined,
): Promise<void> {
  const room = await freeSpace(path);
  await withReadRetries(name, transfer, signal, async () => {
    await wrapWriteErrors(path, handle.truncate(0));
    await get(request, {}, transfer, signal, async ({ response, download }) => {
      if (response.statusCode !== 200) throw responseFailure(response);
      // A response without a length must not fill the disk.
      const maxLength = contentLength(response.headers) ?? room / 2;
      if (maxLength > room) throw insufficientSpace(path, maxLength, room);
      let position = 0;
      await download.body((bytes) => {
        if (bytes.length > maxLength - position)
          throw insufficientSpace(path, position + bytes.length, room);
        wrapSystemErrorsSync("ERR_TARGET", `cannot write ${path}`, () =>
          writeFullySync(handle.fd, bytes, position),
        );
        position += bytes.length;
      });
    });
  });
}
