/** The network between a host and an object service, which loses, delays and refuses requests, until the host dies. */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";

import { closed, listening } from "../../../../tests/support/http/listen.js";

/** What happens to a request. */
export interface WireFault {
  /** The status of a response in place of the service's. */
  readonly status?: number;
  /** Whether the request is lost with the connection. */
  readonly loseRequest?: boolean;
  /** Whether the response is lost with the connection. */
  readonly loseResponse?: boolean;
  /** How long the response takes, in milliseconds. */
  readonly delay?: number;
  /** The connection is lost; the request arrives so many milliseconds later. */
  readonly late?: number;
}

/** The times of the objects of a service, as hosts see them: set back from those of the service. */
export class ObjectTimes {
  /** The last text of each object, and how far its time is set back, in milliseconds. */
  readonly #objects = new Map<string, { readonly text: string; age: number }>();

  /** @param bucket the path of the bucket in URLs */
  constructor(private readonly bucket: string) {}

  /** Returns the key of the object that a request is about. */
  keyOf(url: URL): string {
    const name = url.pathname.startsWith("/upload/") ? url.searchParams.get("name") : undefined;
    if (name) return name;
    return decodeURIComponent(url.pathname)
      .replace(/^\/storage\/v1\/b\/[^/]+\/o\//, "")
      .replace(`/${this.bucket}/`, "");
  }

  wrote(key: string, body: Buffer): void {
    this.#objects.set(key, { text: body.length < MAX_TEXT ? body.toString() : "", age: 0 });
  }

  /** Returns the time of an object. @param text as the service states it */
  timeOf(key: string, text: string): string {
    return new Date(Date.parse(text) - (this.#objects.get(key)?.age ?? 0)).toUTCString();
  }

  setBack(age: number, which: (key: string, text: string) => boolean): void {
    for (const [key, object] of this.#objects)
      if (which(key, object.text)) object.age = Math.max(object.age, age);
  }
}

/** Longer objects are no pointers, in bytes. */
const MAX_TEXT = 2 ** 16;

/** How a wire passes requests on. */
export interface WireOptions {
  /** Called when a request has arrived, and when it was carried out. */
  readonly onStep?: () => void;
  readonly times?: ObjectTimes;
  /** Whether requests name the service in place of the wire: only where the host is not signed. */
  readonly host?: boolean;
}

/** The last request for each object, by its service and path. */
const requests = new Map<string, Promise<unknown>>();

/** A network that a host reaches a service through. */
export class StoreWire implements AsyncDisposable {
  /** Requests that are being carried out, or that arrive after their connection was lost. */
  readonly #underWay = new Set<Promise<unknown>>();
  readonly #open = new Set<ServerResponse>();
  #isCut = false;

  private constructor(
    private readonly target: URL,
    private readonly faultOf: (asked: IncomingMessage) => WireFault | undefined,
    private readonly options: WireOptions,
  ) {}

  /** The object of each upload, by its path. */
  readonly #uploads = new Map<string, string>();

  #server = createServer((asked, response) => {
    this.#open.add(response);
    response.on("close", () => this.#open.delete(response));
    this.#answer(asked, response).catch(() => response.destroy());
  });
  endpoint = new URL("http://127.0.0.1/");

  static async open(
    target: URL,
    faultOf: (asked: IncomingMessage) => WireFault | undefined,
    options: WireOptions = {},
  ): Promise<StoreWire> {
    const wire = new StoreWire(target, faultOf, options);
    wire.endpoint = await listening(wire.#server);
    return wire;
  }

  /** Drops everything from now on, in both directions. */
  cut(): void {
    this.#isCut = true;
    for (const response of this.#open) response.destroy();
  }

  /** Passes requests on again. */
  mend(): void {
    this.#isCut = false;
  }

  /** Waits until those requests were carried out that have arrived until now, or are late. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut();
    await this.settled();
    await closed(this.#server);
  }

  async #answer(asked: IncomingMessage, response: ServerResponse): Promise<void> {
    if (this.#isCut) return void response.destroy();
    const { status, loseRequest, loseResponse, delay, late } = this.faultOf(asked) ?? {};
    const body = await buffer(asked);
    const { onStep = () => {} } = this.options;
    onStep();
    if (this.#isCut || loseRequest) return void response.destroy();
    if (status !== undefined) return void response.writeHead(status).end();
    if (late !== undefined) {
      response.destroy();
      void this.#track(sleep(late).then(async () => (await this.#pass(asked, body)).resume()));
      return;
    }
    const found = await this.#track(this.#pass(asked, body));
    onStep();
    if (delay !== undefined) await sleep(delay);
    if (loseResponse) found.resume();
    if (loseResponse || this.#isCut) return void response.destroy();
    response.writeHead(found.statusCode ?? 0, found.headers);
    found.pipe(response);
  }

  #track<T>(request: Promise<T>): Promise<T> {
    const ended: Promise<unknown> = request
      .catch(() => {})
      .then(() => this.#underWay.delete(ended));
    this.#underWay.add(ended);
    return request;
  }

  /**
   * Passes a request on. Those for one object wait for each other, also on other wires: while `versitygw --sidecar`
   * replaces an object, a read can get the content before with the ETag afterwards, which S3 never returns.
   */
  #pass(asked: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    const url = new URL(asked.url ?? "", this.target);
    const { times } = this.options;
    // Requests with a name say which object they are about.
    const upload = url.searchParams.has("name") ? undefined : this.#uploads.get(url.pathname);
    const object = upload ?? times?.keyOf(url) ?? url.pathname;
    const key = `${url.host} ${object}`;
    const send = async () => {
      const found = await this.#send(asked, body);
      if (times !== undefined) this.#note(asked, body, found, { times, object });
      return found;
    };
    const sent = (requests.get(key) ?? Promise.resolve()).then(send, send);
    requests.set(key, sent);
    return sent;
  }

  /** Notes what a request has written, and sets the time in the response back. */
  #note(
    { method = "" }: IncomingMessage,
    body: Buffer,
    { statusCode = 0, headers }: IncomingMessage,
    { times, object }: { readonly times: ObjectTimes; readonly object: string },
  ): void {
    const isRead = ["GET", "HEAD"].includes(method);
    if (!isRead && statusCode < 300) times.wrote(object, body);
    const { "last-modified": modified, location } = headers;
    if (modified !== undefined) headers["last-modified"] = times.timeOf(object, modified);
    if (location === undefined) return;
    // The rest of an upload goes the same way.
    const upload = new URL(location, this.target);
    this.#uploads.set(upload.pathname, object);
    headers.location = new URL(`${upload.pathname}${upload.search}`, this.endpoint).href;
  }

  /** Sends a request. Its headers stay as they are, including the host if it is signed. */
  async #send({ method, url, headers }: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    const { hostname, port } = this.target;
    if (this.options.host) headers.host = this.target.host;
    const passed = request({ hostname, port, method, path: url, headers, agent: false });
    passed.end(body);
    const [found] = (await once(passed, "response")) as [IncomingMessage];
    return found;
  }
}
