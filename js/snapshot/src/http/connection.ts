/**
 * Connections for `GET` requests. Node reads each of them into one buffer of the thread, and calls back with up to
 * 512 KiB at a time: its own client would allocate a buffer for each 64 KiB, and pass it through a stream.
 */
import type { Socket } from "node:net";
import { TLSSocket } from "node:tls";

import { agentFor, connectTo, type ProxyAgent } from "./agent.js";
import { CleanCause, RequestFailure } from "./failure.js";
import { ResponseParser, type ResponseParts } from "./response-parser.js";

/**
 * How many bytes of a response a connection reads in one turn of the event loop. Without this limit, Node would read up
 * to 32 buffers of one connection while the others wait, and their TCP windows would stay small.
 */
const MAX_PER_TURN = 2 ** 19;

/** Receives the response to a request. */
export interface Receiver extends ResponseParts {
  /** The connection is open, TLS included. */
  connected(): void;
  end(): void;
  fail(error: unknown): void;
}

let sharedBuffer: Buffer | undefined;

/** Returns the buffer of all connections: Node fills it and calls back at once, so that they can share it. */
function buffer(): Buffer {
  sharedBuffer ??= Buffer.allocUnsafeSlow(MAX_PER_TURN);
  return sharedBuffer;
}

/** A connection to a server or its proxy, which carries one request at a time. */
export class Connection {
  readonly #pool: ConnectionPool;
  #socket: Socket | undefined;
  #exchange: { readonly parser: ResponseParser; readonly receiver: Receiver } | undefined;
  #request = "";
  /** How many bytes were read in this turn. */
  #taken = 0;
  #isClosed = false;
  /** When the server may close it, as of `performance.now()`. */
  #expiry = Number.POSITIVE_INFINITY;

  constructor(
    pool: ConnectionPool,
    agent: ProxyAgent,
    readonly url: URL,
  ) {
    this.#pool = pool;
    const callback = (count: number) => {
      this.#read(buffer().subarray(0, count));
      return true;
    };
    const onread = { buffer: buffer(), callback };
    const session = pool.sessions.get(url.origin);
    connectTo(agent, url, { onread, session }, (error, socket) => {
      if (error === null) this.#open(socket as Socket);
      else this.#fail(error);
    });
  }

  /** Whether another request can be sent. */
  get isUsable(): boolean {
    return !this.#isClosed && performance.now() < this.#expiry;
  }

  /** Sends a request, when the connection is open. No other request may be running. */
  send(request: string, receiver: Receiver): void {
    this.#exchange = { parser: new ResponseParser(receiver), receiver };
    this.#request = request;
    if (this.#isClosed) this.#fail(connectionClosed());
    else if (this.#socket !== undefined) this.#write(this.#socket, receiver);
  }

  /** Closes the connection. The receiver is not called any more. */
  close(): void {
    this.#isClosed = true;
    this.#exchange = undefined;
    this.#pool.remove(this);
    this.#socket?.destroy();
  }

  #open(socket: Socket): void {
    this.#socket = socket;
    socket.on("error", (error) => {
      this.#pool.sessions.delete(this.url.origin);
      this.#fail(error);
    });
    // TLS in a tunnel ignores `onread`, and no other connection emits this.
    socket.on("data", (bytes: Buffer) => this.#read(bytes));
    socket.on("end", () => this.#end());
    socket.on("close", () => this.#fail(connectionClosed()));
    socket.on("session", (session: Buffer) => this.#pool.sessions.set(this.url.origin, session));
    if (this.#isClosed) socket.destroy();
    else if (this.#exchange !== undefined) this.#write(socket, this.#exchange.receiver);
  }

  #write(socket: Socket, receiver: Receiver): void {
    socket.ref();
    // A socket that is connecting sends it later.
    socket.write(this.#request, "latin1");
    const event = socket instanceof TLSSocket ? "secureConnect" : "connect";
    if (socket.connecting) socket.once(event, () => receiver.connected());
    else receiver.connected();
  }

  #read(bytes: Buffer): void {
    const exchange = this.#exchange;
    this.#taken += bytes.length;
    try {
      exchange?.parser.push(bytes);
    } catch (error) {
      this.#fail(error);
    }
    // The receiver has closed the connection, or no request asks for these bytes.
    if (exchange === undefined || this.#exchange !== exchange) this.close();
    // Do not delay the end of a response, which frees its connection.
    else if (exchange.parser.isComplete) this.#finish();
    else if (this.#taken >= MAX_PER_TURN) this.#giveTurn();
  }

  /** Reads on in the next turn of the event loop. */
  #giveTurn(): void {
    this.#taken = 0;
    this.#socket?.pause();
    setImmediate(() => this.#socket?.resume());
  }

  /** The server has closed the connection. */
  #end(): void {
    this.#exchange?.parser.end();
    if (this.#exchange?.parser.isComplete) this.#finish();
    else this.#fail(connectionClosed());
  }

  #finish(): void {
    const { parser, receiver } = this.#exchange ?? {};
    this.#exchange = undefined;
    const { idleTime = 0 } = parser ?? {};
    this.#expiry = performance.now() + idleTime;
    if (this.#socket !== undefined && idleTime > 0) this.#pool.keep(this, this.#socket);
    else this.close();
    receiver?.end();
  }

  #fail(error: unknown): void {
    const receiver = this.#exchange?.receiver;
    this.close();
    receiver?.fail(error);
  }
}

/** Connections of one protocol. Idle ones are used again. */
export class ConnectionPool {
  /** The TLS session of each origin, which a new connection resumes. */
  readonly sessions = new Map<string, Buffer>();
  readonly #agent: ProxyAgent;
  readonly #idle: Connection[] = [];
  #isClosed = false;

  constructor(protocol: string, connectTimeout: number) {
    this.#agent = agentFor(protocol, { keepAlive: true, connectTimeout });
  }

  /** Returns an idle connection to the origin of a URL, or opens one. The caller sends a request, or closes it. */
  take(url: URL): Connection {
    const index = this.#idle.findLastIndex((idle) => idle.url.origin === url.origin);
    const [idle] = index < 0 ? [] : this.#idle.splice(index, 1);
    if (idle === undefined) return new Connection(this, this.#agent, url);
    if (idle.isUsable) return idle;
    idle.close();
    return this.take(url);
  }

  /** Keeps an idle connection, unless it is to a proxy. */
  keep(connection: Connection, socket: Socket): void {
    if (!this.#isClosed && this.#agent.keepSocketAlive(socket)) this.#idle.push(connection);
    else connection.close();
  }

  remove(connection: Connection): void {
    const index = this.#idle.indexOf(connection);
    if (index >= 0) this.#idle.splice(index, 1);
  }

  /** Closes idle connections, and those to proxies that no request holds yet. */
  close(): void {
    this.#isClosed = true;
    this.#agent.destroy();
    for (const connection of this.#idle.slice()) connection.close();
  }
}

/** A closed connection, with the code that Node uses when it reports one itself. */
function connectionClosed(): RequestFailure {
  const message = "the connection was closed";
  const cause = Object.assign(new Error(message), { code: "ECONNRESET" });
  return new RequestFailure(message, true, { cause: new CleanCause(cause) });
}
