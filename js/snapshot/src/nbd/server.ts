import { createServer, isIP, type Server, type Socket } from "node:net";
import { createSecureContext } from "node:tls";
import { BOOLEAN, type Checks, checkOptions, integer, invalid, is, object } from "../check.js";

import { messageOf, SnapshotError } from "../error.js";
import { libc } from "../local/libc.js";
import type { FileId } from "../local/open-file.js";
import { Connection, type TlsOptions } from "./connection.js";
import type { Export } from "./export.js";
import { makeSocket, removeSocket } from "./unix-socket.js";

/** Options of `Disk.listen`: a path, or a port. */
export interface ListenOptions {
  /** The path of a Unix socket, which only the user of this process may connect to. */
  readonly path?: string | undefined;
  /** A TCP port, or 0 for any that is free. */
  readonly port?: number | undefined;
  /** The address to listen on. Default: `127.0.0.1`. Any other than loopback needs `tls`. */
  readonly host?: string | undefined;
  /** The name of the export. Clients that ask for another one are refused. Default: `""`, the default export. */
  readonly name?: string | undefined;
  /** Certificates in PEM format. All clients must then use TLS 1.2 or later. Default: no TLS. */
  readonly tls?: TlsFiles | undefined;
  /**
   * Whether to accept writes, also of a read-only disk, and discard them when the server is closed. Until then they are in
   * a temporary file beside the image, and only the clients of this server see them. Default: `false`.
   */
  readonly discardWrites?: boolean | undefined;
}

/** Certificates of a server, in PEM format. */
export interface TlsFiles {
  /** The certificate of the server, with those of intermediate authorities. */
  readonly cert: string | Buffer;
  /** Its private key. */
  readonly key: string | Buffer;
  /** The authorities that may sign the certificates of clients. Default: clients need no certificate. */
  readonly ca?: string | Buffer | undefined;
}

/** Checked options with their defaults. */
export interface Listen {
  readonly path: string | undefined;
  readonly port: number;
  readonly host: string;
  readonly name: string;
  readonly tls: TlsFiles | undefined;
  readonly discardWrites: boolean;
}

/** The maximum length of the path of a Unix socket, in bytes: that of Linux, less the suffix of its temporary name. */
const MAX_PATH = 107 - 9;

/** The maximum length of the name of an export, in bytes. */
const MAX_NAME = 4096;

const PEM = is(
  "a string or a Buffer",
  (value) => typeof value === "string" || value instanceof Uint8Array,
);

const LISTEN_CHECKS: Checks<ListenOptions> = {
  path: is(`the path of a socket, of at most ${MAX_PATH} bytes`, isSocketPath),
  port: integer(0, 65_535),
  host: is("an IP address", (value) => typeof value === "string" && isIP(value) !== 0),
  name: is(
    `a string of at most ${MAX_NAME} bytes`,
    (value) => typeof value === "string" && Buffer.byteLength(value) <= MAX_NAME,
  ),
  tls: object<TlsFiles>({ cert: PEM, key: PEM, ca: PEM }),
  discardWrites: BOOLEAN,
};

function isSocketPath(value: unknown): boolean {
  if (typeof value !== "string" || value === "" || value.includes("\0")) return false;
  return Buffer.byteLength(value) <= MAX_PATH;
}

/** Returns checked options with their defaults. @throws {SnapshotError} `ERR_ARGUMENT` */
export function listenOf(options: ListenOptions): Listen {
  const checked = checkOptions(options, LISTEN_CHECKS);
  const { path, port, host = "127.0.0.1", name = "", tls, discardWrites = false } = checked;
  if ((path === undefined) === (port === undefined)) {
    const found = path === undefined ? "neither" : "both";
    throw invalid("options", "either path or port", found);
  }
  if (tls === undefined && !isLoopback(host))
    throw invalid("host", "a loopback address, or tls", host);
  return { path, port: port ?? 0, host, name, tls, discardWrites };
}

function isLoopback(host: string): boolean {
  return host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

/** The maximum number of connections of a server. */
const MAX_CONNECTIONS = 64;

/** The size of the send buffer of a Unix socket, in bytes. */
const SEND_BUFFER = 2 ** 20;

/** A Unix socket that a server has made: its path, and the ID of its file. */
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
      // With the default size, a large reply would wait for the client several times.
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
    // First, because no other server replaces the socket while this one listens.
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
    // Later errors concern connections that could not be accepted.
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

/** Returns the file descriptor of a socket from a private field of Node, or -1. */
function descriptorOf(socket: Socket): number {
  const { _handle: handle } = socket as { readonly _handle?: { readonly fd?: number } };
  return handle?.fd ?? -1;
}
