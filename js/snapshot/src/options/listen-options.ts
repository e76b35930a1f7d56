import { isIP } from "node:net";

import { SnapshotError } from "../error.js";
import { checkBooleans } from "./check-booleans.js";
import { checkInteger } from "./check-integer.js";
import { checkObject, readOptions } from "./read-options.js";

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
  /** Certificates in PEM format. All clients then have to use TLS 1.2 or later. Default: no TLS. */
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
  /** Authorities one of which must have signed the certificate of a client. Default: clients need none. */
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

/** The maximum length of the path of a Unix socket, in bytes: that of Linux, less a suffix while it is made. */
const MAX_PATH = 107 - 9;

/** The maximum length of the name of an export, in bytes. */
const MAX_NAME = 4096;

/** @throws {SnapshotError} `ERR_ARGUMENT` */
export function listenOf(options: ListenOptions): Listen {
  const { path, port, host = "127.0.0.1", name = "", tls, ...rest } = readOptions(options);
  checkBooleans(rest, ["discardWrites"]);
  if ((path === undefined) === (port === undefined)) throw invalid("expected either path or port");
  if (path !== undefined) {
    const length = typeof path === "string" ? Buffer.byteLength(path) : 0;
    if (length === 0 || length > MAX_PATH || path.includes("\0")) {
      throw invalid(`path: expected the path of a socket, of at most ${MAX_PATH} bytes`);
    }
  }
  if (port !== undefined) checkInteger("port", port, 0, 65_535);
  if (typeof name !== "string" || Buffer.byteLength(name) > MAX_NAME) {
    throw invalid(`name: expected a string of at most ${MAX_NAME} bytes`);
  }
  if (tls !== undefined) checkObject("tls", tls);
  if (typeof host !== "string" || isIP(host) === 0) throw invalid("host: expected an IP address");
  if (tls === undefined && !isLoopback(host)) {
    throw invalid(`host: expected a loopback address, or tls, found ${host}`);
  }
  const { discardWrites = false } = rest;
  return { path, port: port ?? 0, host, name, tls, discardWrites };
}

function isLoopback(host: string): boolean {
  return host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function invalid(message: string): SnapshotError {
  return new SnapshotError("ERR_ARGUMENT", message);
}
