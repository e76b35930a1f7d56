import { chmodSync, lstatSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { createSecureContext } from "node:tls";

import { messageOf, SnapshotError } from "../error.js";
import { libc } from "../local/libc.js";
import type { Listen } from "../options/listen-options.js";
import { Connection, type TlsOptions } from "./connection.js";
import type { Export } from "./export.js";

/** The maximum number of connections of a server. */
const MAX_CONNECTIONS = 64;

/** The size of the send buffer of a Unix socket, in bytes. */
const SEND_BUFFER = 2 ** 20;

/** The mode of a socket that only its owner may connect to. */
const PRIVATE_MODE = 0o600;

/** An NBD server that exports one block device. */
export class NbdServer {
  /** The URI of the export, for `nbdinfo`, `qemu-img` and other clients. */
  readonly uri: string;
  readonly #server: Server;
  readonly #connections: Set<Connection>;
  readonly #path: string | undefined;
  #closed: Promise<void> | undefined;

  private constructor(server: Server, connections: Set<Connection>, listen: Listen) {
    this.#server = server;
    this.#connections = connections;
    this.#path = listen.path;
    this.uri = uriOf(server, listen);
  }

  /** Serves an export until the server is closed. @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT` */
  static async listen(exported: Export, listen: Listen): Promise<NbdServer> {
    const connections = new Set<Connection>();
    const tls = tlsOf(listen);
    const system = await libc();
    const server = createServer({ noDelay: true }, (socket: Socket) => {
      // Otherwise, a large reply does not fit, and waits for the client several times.
      if (listen.path !== undefined) system?.setSendBuffer(descriptorOf(socket), SEND_BUFFER);
      const connection = new Connection(socket, { exported, name: listen.name, tls });
      connections.add(connection);
      connection.onClose(() => connections.delete(connection));
    });
    server.maxConnections = MAX_CONNECTIONS;
    if (listen.path === undefined) await started(server, { host: listen.host, port: listen.port });
    else await startedAt(server, listen.path);
    return new NbdServer(server, connections, listen);
  }

  /** Stops listening, waits for running requests, and disconnects all clients. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  /** Calls {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    if (this.#path !== undefined) rmSync(this.#path, { force: true });
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await Promise.all([...this.#connections].map((connection) => connection.shutDown()));
    for (const connection of this.#connections) connection.destroy();
    await closed;
  }
}

/** Waits until a server listens. @throws {SnapshotError} `ERR_TARGET` */
function started(server: Server, where: { host?: string; port?: number; path?: string }) {
  return new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => {
      const message = `cannot listen: ${messageOf(cause)}`;
      reject(new SnapshotError("ERR_TARGET", message, { cause }));
    });
    server.listen(where, resolve);
    // Later ones concern a connection that could not be accepted.
    server.on("error", () => {});
  });
}

/**
 * Waits until a server listens on a Unix socket that only the owner may connect to. It is made in a private directory,
 * gets its name when it is private itself, and replaces the socket of a server that was killed.
 */
async function startedAt(server: Server, path: string): Promise<void> {
  await checkUnused(path);
  let directory: string | undefined;
  try {
    directory = mkdtempSync(`${path}.`);
    const temporary = `${directory}/s`;
    await started(server, { path: temporary });
    chmodSync(temporary, PRIVATE_MODE);
    renameSync(temporary, path);
  } catch (cause) {
    server.close();
    if (cause instanceof SnapshotError) throw cause;
    throw new SnapshotError("ERR_TARGET", `cannot listen: ${messageOf(cause)}`, { cause });
  } finally {
    if (directory !== undefined) rmSync(directory, { recursive: true, force: true });
  }
}

/** Throws if there is something at a path that is not the socket of a server that has ended. */
async function checkUnused(path: string): Promise<void> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (!found.isSocket()) {
    throw new SnapshotError("ERR_TARGET", `${path}: expected no file or a socket`);
  }
  const isServed = await new Promise<boolean>((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code !== "ECONNREFUSED"));
  });
  if (isServed) throw new SnapshotError("ERR_TARGET", `${path}: another server is listening`);
}

/** @throws {SnapshotError} `ERR_ARGUMENT` if the certificates are invalid */
function tlsOf({ tls }: Listen): TlsOptions | undefined {
  if (tls === undefined) return undefined;
  try {
    const { cert, key, ca } = tls;
    const secureContext = createSecureContext({
      cert,
      key,
      ...(ca && { ca }),
      minVersion: "TLSv1.2",
    });
    return { secureContext, requestCert: ca !== undefined };
  } catch (cause) {
    // The message of OpenSSL names the problem, and repeats no part of a key.
    throw new SnapshotError("ERR_ARGUMENT", `tls: ${messageOf(cause)}`, { cause });
  }
}

function uriOf(server: Server, { path, name, tls }: Listen): string {
  const scheme = tls === undefined ? "nbd" : "nbds";
  const exportName = encodeURIComponent(name);
  if (path !== undefined) {
    return `${scheme}+unix:///${exportName}?socket=${encodeURIComponent(path).replaceAll("%2F", "/")}`;
  }
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("expected an address");
  const host = address.family === "IPv6" ? `[${address.address}]` : address.address;
  return `${scheme}://${host}:${address.port}/${exportName}`;
}

/** Returns the file descriptor of a socket, which Node keeps to itself, or -1. */
function descriptorOf(socket: Socket): number {
  const { _handle: handle } = socket as { readonly _handle?: { readonly fd?: number } };
  return handle?.fd ?? -1;
}
