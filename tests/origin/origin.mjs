// An HTTP server for tests and benchmarks. It serves files with ranges and preconditions, can limit the rate,
// accepts uploads, and injects faults.
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { answerWithFile, matches, withoutBody } from "./answer.mjs";
import { Pace } from "./pace.mjs";
import { receiveBody } from "./receive.mjs";
import { openResource, parseRange } from "./resource.mjs";
import { sendBody } from "./send.mjs";

/** @typedef {import("./fault.mjs").Fault} Fault */
/** @typedef {import("./fault.mjs").Faults} Faults */
/** @typedef {import("./answer.mjs").Answer} Answer */
/** @typedef {import("./resource.mjs").Resource} Resource */
/** @typedef {import("node:http").IncomingMessage} Request */
/** @typedef {import("node:http").ServerResponse} Response */

/**
 * The simulated network.
 *
 * @typedef {object} Conditions
 * @property {number | undefined} [bytesPerSecond] the rate of each connection
 * @property {number | undefined} [sharedBytesPerSecond] the rate of all connections together, in place of that of each
 * @property {number | undefined} [firstByte] milliseconds until the first byte of each response
 */

/**
 * @typedef {object} OriginOptions
 * @property {Record<string, Uint8Array | string>} [files] by path: bytes, or the path of a file
 * @property {Conditions} [conditions] can be changed while the origin runs
 * @property {Faults | undefined} [faults]
 * @property {{ key: string, cert: string } | undefined} [tls]
 * @property {string | undefined} [folder] where uploads are kept, in deleted files; by default they are kept in memory
 * @property {boolean} [log] whether requests are logged, not only counted. Default: true
 */

/**
 * A request and its outcome. Times are those of `performance.now()`.
 *
 * @typedef {object} LoggedRequest
 * @property {number} number from 1
 * @property {number} connection from 1
 * @property {string} method
 * @property {string} path
 * @property {import("node:http").IncomingHttpHeaders} headers
 * @property {import("./resource.mjs").Range | undefined} range the requested range, if there is one
 * @property {number} status 0 before the response
 * @property {number} bytesSent of the body
 * @property {number} bytesReceived of an upload
 * @property {boolean} aborted whether the connection was closed before the response was complete
 * @property {number} begin
 * @property {number | undefined} end
 */

/** The path of the counters. Requests for it are not counted. */
const STATS = "/-/stats";

/** @param {OriginOptions} [options] */
export async function startOrigin(options = {}) {
  const origin = new Origin(options);
  await origin.listen();
  return origin;
}

export class Origin {
  /** @type {LoggedRequest[]} */
  requests = [];
  requestCount = 0;
  bytesSent = 0;
  bytesReceived = 0;
  /** Can be changed while the origin runs. @type {Conditions} */
  conditions;
  /** Can be changed while the origin runs. @type {Faults | undefined} */
  faults;
  #options;
  #server;
  #port = 0;
  /** @type {Map<string, Resource>} */
  #resources = new Map();
  /** All resources that were opened: a replaced one may still be in use. @type {Resource[]} */
  #opened = [];
  /** @type {Set<import("node:net").Socket>} */
  #sockets = new Set();
  #connectionCount = 0;
  /** @type {WeakMap<import("node:net").Socket, number>} */
  #connections = new WeakMap();
  /** @type {WeakMap<import("node:net").Socket, Pace>} */
  #paces = new WeakMap();
  /** @type {Pace | undefined} */
  #sharedPace;
  /** @type {NodeJS.Timeout | undefined} */
  #refusal;

  /** @param {OriginOptions} options */
  constructor(options) {
    this.#options = options;
    this.conditions = options.conditions ?? {};
    this.faults = options.faults;
    for (const [path, source] of Object.entries(options.files ?? {})) this.set(path, source);
    this.#server = options.tls ? createTlsServer(options.tls) : createServer();
    this.#server.keepAliveTimeout = 60_000;
    this.#server.on("request", (request, response) => this.#handle(request, response));
    this.#server.on("connection", (socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
    });
  }

  /** Starts to listen, on the same port as before if there was one. */
  async listen() {
    this.#server.listen(this.#port, "127.0.0.1");
    await once(this.#server, "listening");
    // Only connections keep the process running.
    this.#server.unref();
    this.#port = /** @type {import("node:net").AddressInfo} */ (this.#server.address()).port;
  }

  /** Returns the URL of a path. */
  url(path = "/") {
    const scheme = this.#options.tls ? "https" : "http";
    return new URL(path, `${scheme}://127.0.0.1:${this.#port}`);
  }

  /** Serves a resource at a path. @param {string} path @param {Uint8Array | string} source */
  set(path, source) {
    this.#resources.set(path, this.#keep(openResource(source)));
  }

  /** Returns the bytes at a path, which may be an upload. @param {string} path */
  get(path) {
    const resource = this.#resources.get(path);
    if (resource === undefined) return undefined;
    const bytes = Buffer.alloc(resource.size);
    let length = 0;
    while (length < bytes.length) {
      const piece = resource.read(bytes.subarray(length), length, bytes.length);
      length += piece.copy(bytes, length);
    }
    return bytes;
  }

  /** The number of open connections. */
  get connectionCount() {
    return this.#sockets.size;
  }

  /**
   * Closes all connections, and refuses new ones for some milliseconds. Returns as soon as they are refused.
   *
   * @param {number} milliseconds
   */
  async refuse(milliseconds) {
    await this.#stopListening();
    this.#refusal = setTimeout(() => this.listen(), milliseconds);
  }

  async close() {
    clearTimeout(this.#refusal);
    await this.#stopListening();
    this.#resources.clear();
    for (const resource of this.#opened.splice(0)) resource.close();
  }

  /** @param {Resource} resource */
  #keep(resource) {
    this.#opened.push(resource);
    return resource;
  }

  async #stopListening() {
    const closed = this.#server.listening ? once(this.#server, "close") : undefined;
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  /** @param {Request} request @param {Response} response */
  async #handle(request, response) {
    const { method = "", headers } = request;
    const { pathname: path } = new URL(request.url ?? "", this.url());
    if (path === STATS) return this.#sendStats(response);
    this.requestCount += 1;
    const number = this.requestCount;
    const resource = this.#resources.get(path);
    const size = resource?.size ?? 0;
    const parsed = parseRange(headers.range, size);
    const range = parsed === "unsatisfiable" ? undefined : parsed;
    const connection = this.#connectionOf(request);
    const entry = newEntry({ number, connection, method, path, headers, range }, response);
    if (this.#options.log !== false) this.requests.push(entry);
    const length = range ? range.end - range.start : size;
    const fault = this.faults?.({ number, method, path, headers, range, length }) ?? {};
    // The body is read all the same: how much of it the system would buffer differs.
    if (fault.noAnswer) return void request.resume();
    const pace = this.#paceOf(request, fault);
    const changed = fault.content ? openResource(fault.content) : resource;
    const answer = await this.#answerTo(request, entry, changed, fault, pace);
    const { firstByte = 0 } = this.conditions;
    const delay = firstByte + (fault.firstByte ?? 0);
    if (delay > 0) await sleep(delay);
    if (response.destroyed || answer === undefined) return;
    entry.status = answer.status;
    response.writeHead(answer.status, answer.headers);
    if (method === "HEAD" || changed === undefined || answer.end === 0) {
      response.end();
      return;
    }
    await sendBody(response, changed, answer, fault, pace, (bytes) => {
      entry.bytesSent += bytes;
      this.bytesSent += bytes;
    });
  }

  /**
   * @param {Request} request
   * @param {LoggedRequest} entry
   * @param {Resource | undefined} resource
   * @param {Fault} fault
   * @param {Pace | undefined} pace
   * @returns {Promise<Answer | undefined>}
   */
  async #answerTo(request, entry, resource, fault, pace) {
    const { method, path, headers } = entry;
    const isUpload = method === "PUT";
    const body = isUpload ? await this.#receive(request, entry, fault, pace) : undefined;
    if (isUpload && body === undefined) return undefined;
    const status = fault.status ?? (fault.location === undefined ? undefined : 302);
    if (status !== undefined) return faultyAnswer(status, fault);
    if (body !== undefined) return this.#store(path, body, headers, fault);
    if (method !== "GET" && method !== "HEAD") return withoutBody(405, { Allow: "GET, HEAD, PUT" });
    if (resource === undefined) return withoutBody(404);
    return answerWithFile(resource, method, headers, fault);
  }

  /**
   * @param {Request} request
   * @param {LoggedRequest} entry
   * @param {Fault} fault
   * @param {Pace | undefined} pace
   */
  async #receive(request, entry, fault, pace) {
    const { folder } = this.#options;
    const path = folder && join(folder, `upload-${entry.number}`);
    const body = await receiveBody(request, path, fault, pace, (bytes) => {
      entry.bytesReceived += bytes;
      this.bytesReceived += bytes;
    });
    return body && this.#keep(body);
  }

  /**
   * Stores an upload at its path.
   *
   * @param {string} path
   * @param {Resource} body
   * @param {import("node:http").IncomingHttpHeaders} headers
   * @param {Fault} fault
   */
  #store(path, body, headers, fault) {
    const old = this.#resources.get(path);
    const isMatch = fault.ignoreIfMatch || matches(headers["if-match"], old?.etag ?? null);
    const isTaken = headers["if-none-match"] === "*" && old !== undefined;
    if (!isMatch || isTaken) return withoutBody(412);
    this.#resources.set(path, body);
    return withoutBody(old === undefined ? 201 : 200, { ETag: body.etag });
  }

  /** @param {Request} request */
  #connectionOf({ socket }) {
    const known = this.#connections.get(socket);
    if (known !== undefined) return known;
    this.#connectionCount += 1;
    this.#connections.set(socket, this.#connectionCount);
    return this.#connectionCount;
  }

  /** Returns the pace of one response, of all connections, or of one. @param {Request} request @param {Fault} fault */
  #paceOf({ socket }, fault) {
    if (fault.bytesPerSecond !== undefined) return new Pace(fault.bytesPerSecond);
    const { bytesPerSecond, sharedBytesPerSecond: shared } = this.conditions;
    if (shared !== undefined) {
      if (this.#sharedPace?.bytesPerSecond !== shared) this.#sharedPace = new Pace(shared);
      return this.#sharedPace;
    }
    if (bytesPerSecond === undefined) return undefined;
    const known = this.#paces.get(socket);
    if (known?.bytesPerSecond === bytesPerSecond) return known;
    const pace = new Pace(bytesPerSecond);
    this.#paces.set(socket, pace);
    return pace;
  }

  /** @param {Response} response */
  #sendStats(response) {
    const { requestCount, bytesSent, bytesReceived, connectionCount } = this;
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ requestCount, bytesSent, bytesReceived, connectionCount }));
  }
}

/**
 * @param {Pick<LoggedRequest, "number" | "connection" | "method" | "path" | "headers" | "range">} request
 * @param {Response} response
 */
function newEntry(request, response) {
  /** @type {LoggedRequest} */
  const entry = {
    ...request,
    status: 0,
    bytesSent: 0,
    bytesReceived: 0,
    aborted: false,
    begin: performance.now(),
    end: undefined,
  };
  response.on("close", () => {
    entry.aborted = !response.writableFinished;
    entry.end = performance.now();
  });
  return entry;
}

/** @param {number} status @param {Fault} fault @returns {Answer} */
function faultyAnswer(status, { content, location, retryAfter }) {
  const length = content?.length ?? 0;
  const headers = {
    "Content-Length": length,
    ...(location !== undefined && { Location: location }),
    ...(retryAfter !== undefined && { "Retry-After": retryAfter }),
  };
  return { status, headers, start: 0, end: length };
}
