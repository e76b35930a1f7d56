import { createServer, type Server, type Socket } from "node:net";
import { createSecureContext } from "node:tls";

import { messageOf, SnapshotError } from "../error.js";
import { libc } from "../local/libc.js";
import type { FileId } from "../local/open-file.js";
import type { Listen } from "../options/listen-options.js";
import { Connection, type TlsOptions } from "./connection.js";
import type { Export } from "./export.js";
import { makeSocket, removeSocket } from "./unix-socket.js";

/** The maximum number of connections of a server. */
const MAX_CONNECTIONS = 64;

/** The size of the send buffer of a Unix socket, in bytes. */
const SEND_BUFFER = 2 ** 20;

/** A Unix socket that a server has made: its path, and the identity of its file. */
interface MadeSocket {
  readonly path: string;
  readonly made: FileId;
}

/** An NBD server that exports one block device. */
export class NbdServer {
  /** The URI of the export, for `nbdinfo`, `qemu-img` and other clients. */
  readonly uri: string;
  readonly #server: Server;
  readonly #exported: Export;
  readonly #connections: Set<Connection>;
  readonly #socket: MadeSocket | undefined;
  #closed: Promise<void> | undefined;

  private constructor(
    server: Server,
    exported: Export,
    connections: Set<Connection>,
    listen: Listen,
    socket: MadeSocket | undefined,
  ) {
    this.#server = server;
    this.#exported = exported;
    this.#connections = connections;
    this.#socket = socket;
    this.uri = uriOf(server, listen);
  }

  /** Serves an export until the server is closed. @throws {SnapshotError} `ERR_TARGET`, `ERR_ARGUMENT` */
  static async listen(exported: Export, listen: Listen): Promise<NbdServer> {
    try {
      return await NbdServer.#listen(exported, listen);
    } catch (error) {
      await exported.release?.();
      throw error;
    }
  }

  static async #listen(exported: Export, listen: Listen): Promise<NbdServer> {
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
    const socket = await start(server, listen);
    return new NbdServer(server, exported, connections, listen, socket);
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
    // As long as this server listens, no other one replaces its socket.
    if (this.#socket !== undefined) removeSocket(this.#socket.path, this.#socket.made);
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await Promise.all([...this.#connections].map((connection) => connection.shutDown()));
    for (const connection of this.#connections) connection.destroy();
    await closed;
    await this.#exported.release?.();
  }
}

/** Starts a server. Returns its Unix socket, if it has one. @throws {SnapshotError} `ERR_TARGET` */
async function start(
  server: Server,
  { path, host, port }: Listen,
): Promise<MadeSocket | undefined> {
  if (path === undefined) {
    await started(server, { host, port });
    return undefined;
  }
  try {
    return {
      path,
      made: await makeSocket(path, (temporary) => started(server, { path: temporary })),
    };
  } catch (error) {
    server.close();
    throw error;
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
