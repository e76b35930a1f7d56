import type { Socket } from "node:net";
import { type SecureContext, TLSSocket } from "node:tls";

import { ByteQueue } from "./buffers.js";
import type { Export } from "./export.js";
import { type HandshakeStep, handshake } from "./handshake.js";
import { Transmission } from "./transmission.js";

/** How long a client may take for the handshake, in milliseconds. */
const HANDSHAKE_TIMEOUT = 30_000;

/** How long requests may run when the server is closed, in milliseconds: a client may never receive its replies. */
const SHUTDOWN_TIMEOUT = 5_000;

/** The maximum number of bytes of replies to options that a client may leave unread. */
const MAX_UNSENT = 2 ** 20;

/** What a connection serves, and how. */
export interface ConnectionOptions {
  readonly exported: Export;
  readonly name: string;
  /** The certificates for TLS, if clients must use it. */
  readonly tls: TlsOptions | undefined;
}

/** How TLS is started. */
export interface TlsOptions {
  readonly secureContext: SecureContext;
  /** Whether clients need a certificate of a trusted authority. */
  readonly requestCert: boolean;
}

/** The connection of a client. */
export class Connection {
  readonly #options: ConnectionOptions;
  /** Settles when the connection is closed. */
  readonly #closed: Promise<void>;
  readonly #received = new ByteQueue();
  #socket: Socket;
  readonly #steps: ReturnType<typeof handshake>;
  #step: HandshakeStep;
  #skipped = 0;
  #transmission: Transmission | undefined;
  #isShuttingDown = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: Socket, options: ConnectionOptions) {
    this.#options = options;
    this.#socket = socket;
    // The TLS socket closes with this one.
    this.#closed = new Promise((resolve) => socket.once("close", () => resolve()));
    this.#timer = setTimeout(() => this.#socket.destroy(), HANDSHAKE_TIMEOUT);
    this.#listen(socket);
    this.#steps = handshake({
      ...options,
      needsTls: options.tls !== undefined,
      isShuttingDown: () => this.#isShuttingDown,
      send: (bytes) => this.#send(bytes),
    });
    // The first step is to read the flags of the client.
    this.#step = this.#steps.next().value as HandshakeStep;
  }

  /** Waits for the requests that are running, refuses others, and closes the connection. */
  async shutDown(): Promise<void> {
    this.#isShuttingDown = true;
    const timer = setTimeout(() => this.#socket.destroy(), SHUTDOWN_TIMEOUT);
    await Promise.race([this.#transmission?.shutDown(), this.#closed]);
    this.#socket.destroySoon();
    await this.#closed;
    clearTimeout(timer);
  }

  /** Calls a function when the connection is closed. */
  onClose(action: () => void): void {
    void this.#closed.then(action);
  }

  /** Closes the connection at once. */
  destroy(): void {
    this.#socket.destroy();
  }

  #listen(socket: Socket): void {
    socket.on("data", (chunk: Buffer) => {
      // The connection is closing: ignore further requests.
      if (socket.writableEnded) return;
      this.#received.push(chunk);
      if (this.#transmission === undefined) this.#negotiate();
      else this.#transmission.pump();
    });
    // A client that is gone needs no message.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => clearTimeout(this.#timer));
  }

  /** Sends replies to options. Disconnects a client that does not read them: they would pile up. */
  #send(bytes: Buffer): void {
    this.#socket.write(bytes);
    if (this.#socket.writableLength > MAX_UNSENT) this.#socket.destroy();
  }

  /** Continues the handshake with what has arrived. */
  #negotiate(): void {
    while (this.#transmission === undefined && !this.#socket.destroyed) {
      const bytes = this.#perform(this.#step);
      if (bytes === undefined) return;
      const { done, value } = this.#steps.next(bytes);
      if (!done) {
        this.#step = value;
        if (value.kind === "tls") this.#startTls();
        continue;
      }
      if (value === undefined) return void this.#socket.destroySoon();
      clearTimeout(this.#timer);
      this.#transmission = new Transmission(
        this.#options.exported,
        value,
        this.#received,
        this.#socket,
      );
      if (this.#isShuttingDown) void this.#transmission.shutDown();
      this.#transmission.pump();
    }
  }

  /** Performs a step. Returns undefined if more bytes have to arrive. */
  #perform(step: HandshakeStep): Buffer | undefined {
    if (step.kind === "tls") return undefined;
    if (step.kind === "read") return this.#received.take(step.length);
    this.#skipped += this.#received.skip(step.length - this.#skipped);
    if (this.#skipped < step.length) return undefined;
    this.#skipped = 0;
    return Buffer.alloc(0);
  }

  #startTls(): void {
    const { tls } = this.#options;
    // The client cannot know yet that TLS starts: these bytes may come from a man in the middle.
    if (tls === undefined || this.#received.length > 0) return void this.#socket.destroy();
    const plain = this.#socket;
    plain.removeAllListeners("data");
    const socket = new TLSSocket(plain, {
      isServer: true,
      rejectUnauthorized: tls.requestCert,
      ...tls,
    });
    this.#socket = socket;
    this.#listen(socket);
    socket.once("secure", () => {
      if (tls.requestCert && !socket.authorized) return void socket.destroy();
      const { done, value } = this.#steps.next(Buffer.alloc(0));
      if (done) return void socket.destroy();
      this.#step = value;
      this.#negotiate();
    });
  }
}
