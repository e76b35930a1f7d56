/** The network between a host and an S3 service, which loses, delays and refuses requests, until the host dies. */
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
    /** Called when a request has arrived, and when it was carried out. */
    private readonly onStep: () => void,
  ) {}

  #server = createServer((asked, response) => {
    this.#open.add(response);
    response.on("close", () => this.#open.delete(response));
    this.#answer(asked, response).catch(() => response.destroy());
  });
  endpoint = new URL("http://127.0.0.1/");

  static async open(
    target: URL,
    faultOf: (asked: IncomingMessage) => WireFault | undefined,
    onStep: () => void = () => {},
  ): Promise<StoreWire> {
    const wire = new StoreWire(target, faultOf, onStep);
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
    this.onStep();
    if (this.#isCut || loseRequest) return void response.destroy();
    if (status !== undefined) return void response.writeHead(status).end();
    if (late !== undefined) {
      response.destroy();
      void this.#track(sleep(late).then(async () => (await this.#pass(asked, body)).resume()));
      return;
    }
    const found = await this.#track(this.#pass(asked, body));
    this.onStep();
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
    const object = new URL(asked.url ?? "", this.target);
    const key = `${object.host}${object.pathname}`;
    const send = () => this.#send(asked, body);
    const sent = (requests.get(key) ?? Promise.resolve()).then(send, send);
    requests.set(key, sent);
    return sent;
  }

  /** Sends a request. Its headers stay as they are, including the host, which is signed. */
  async #send({ method, url, headers }: IncomingMessage, body: Buffer): Promise<IncomingMessage> {
    const { hostname, port } = this.target;
    const passed = request({ hostname, port, method, path: url, headers, agent: false });
    passed.end(body);
    const [found] = (await once(passed, "response")) as [IncomingMessage];
    return found;
  }
}
