/**
 * The socket by which `hedgerow disk save` and `detach` reach the process of the same user and host that has attached a
 * disk: its path, and the answers of that process.
 */
import { createHash } from "node:crypto";
import { lstat, mkdir, realpath, rename, rm } from "node:fs/promises";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { CliError, messageOf, systemCode } from "../error.js";

/** The maximum length of a body, in characters. */
const MAX_BODY = 16_384;

/** How long a client may take to send a request, in milliseconds. */
const REQUEST_TIMEOUT = 5_000;

/** How long responses may take when the server closes, in milliseconds. */
const CLOSE_TIMEOUT = 1_000;

const MAX_CONNECTIONS = 16;

/** The maximum length of the path of a Unix socket, in bytes: that of Linux. */
const MAX_PATH = 107;

/** What clients may give a generation. */
export interface SaveRequest {
  readonly label?: string;
  readonly metadata?: unknown;
}

/** The actions that clients may ask for. Their results and errors are sent to the client. */
export interface ControlActions {
  save(options: SaveRequest): Promise<unknown>;
  detach(options: SaveRequest): Promise<unknown>;
}

/** A server for requests of other processes about an attached disk. */
export interface ControlServer {
  /** Closes the server, after the responses to pending requests. */
  close(): Promise<void>;
}

/**
 * Listens at a path. Replaces an existing socket: its process has ended, or has lost the disk to this one.
 *
 * @throws {CliError} `ERR_OUTPUT`
 */
export async function listenForControl(
  path: string,
  actions: ControlActions,
): Promise<ControlServer> {
  const temporary = `${path}.${process.pid}`;
  if (Buffer.byteLength(temporary) > MAX_PATH) {
    const message = `${path}: too long for a socket; set XDG_RUNTIME_DIR to a shorter path`;
    throw new CliError("ERR_OUTPUT", message);
  }
  const timeouts = { requestTimeout: REQUEST_TIMEOUT, headersTimeout: REQUEST_TIMEOUT };
  const options = { ...timeouts, connectionsCheckingInterval: REQUEST_TIMEOUT };
  const server = createServer(options, answering(actions));
  server.maxConnections = MAX_CONNECTIONS;
  await rm(temporary, { force: true });
  await listening(server, temporary);
  const { ino } = await lstat(temporary);
  await rename(temporary, path);
  return { close: () => close(server, path, ino) };
}

async function listening(server: Server, path: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  // Later errors concern connections that could not be accepted.
  server.on("error", () => {});
}

async function close(server: Server, path: string, ino: number): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  // Another process may have replaced it.
  if (found?.ino === ino) await rm(path, { force: true });
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_TIMEOUT);
  await new Promise((resolve) => server.close(resolve));
  clearTimeout(timer);
}

function answering(actions: ControlActions): RequestListener {
  return (request, response) => {
    answer(request, response, actions).catch(() => response.destroy());
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { save, detach }: ControlActions,
): Promise<void> {
  const routes: Record<string, (body: object) => Promise<unknown>> = {
    "POST /save": save,
    "POST /detach": detach,
  };
  const action = routes[`${request.method} ${request.url}`];
  if (action === undefined) {
    const message = "expected POST /save or POST /detach";
    return send(response, 404, errorOf("ERR_USAGE", message));
  }
  const body = await bodyOf(request);
  if (body === undefined) {
    const message = `expected a JSON object of at most ${MAX_BODY} characters`;
    return send(response, 400, errorOf("ERR_USAGE", message));
  }
  try {
    send(response, 200, await action(body));
  } catch (error) {
    send(response, 500, errorOf((error as { code?: string }).code, messageOf(error)));
  }
}

/** Reads the body of a request. Returns undefined if it is too long, or not a JSON object. */
async function bodyOf(request: IncomingMessage): Promise<object | undefined> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) {
    text += chunk;
    if (text.length > MAX_BODY) return undefined;
  }
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === "object" && body !== null ? body : undefined;
  } catch {
    return undefined;
  }
}

function errorOf(code = "ERR_OUTPUT", message: string): object {
  return { error: { code, message } };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json", connection: "close" });
  response.end(JSON.stringify(body));
}

/** Mode of a directory that only its owner may use. */
const PRIVATE = 0o700;

/** The number of hexadecimal digits in the name of a socket: the length of its path is limited. */
const DIGITS = 32;

/**
 * Returns the path at which to listen for a disk, in the first directory that exists or can be made.
 *
 * @param place the store, as in a command line
 * @throws {CliError} `ERR_OUTPUT` if there is no such directory, or if other users may use it
 */
export async function socketPath(place: string, name: string): Promise<string> {
  const reasons: string[] = [];
  for (const directory of directories()) {
    try {
      await mkdir(directory, { mode: PRIVATE }).catch((error: unknown) => {
        if (systemCode(error) !== "EEXIST") throw error;
      });
      await isPrivate(directory);
      return join(directory, await nameOf(place, name));
    } catch (error) {
      // Any user can create the ones in /tmp, but this user has chosen this one.
      if (error instanceof CliError && directory === chosenDirectory()) throw error;
      reasons.push(messageOf(error));
    }
  }
  const message = `cannot make a directory for the control socket; set XDG_RUNTIME_DIR to a directory of this user: ${reasons.join("; ")}`;
  throw new CliError("ERR_OUTPUT", message);
}

/** Where a process may listen for a disk. */
interface SocketPaths {
  readonly paths: readonly string[];
  /** The error for a directory that is left out because other users may use it, if there is one. */
  readonly refusal: CliError | undefined;
}

/**
 * Returns the paths at which a process may listen for a disk: its environment may differ from ours.
 *
 * @param place the store, as in a command line
 */
export async function socketPaths(place: string, name: string): Promise<SocketPaths> {
  const file = await nameOf(place, name);
  const paths: string[] = [];
  let refusal: CliError | undefined;
  for (const directory of directories()) {
    try {
      if (await isPrivate(directory)) paths.push(join(directory, file));
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      // Any user can create the one in /tmp, so a problem with it must not make the others unusable.
      refusal ??= error;
    }
  }
  return { paths, refusal };
}

/** Returns the directories for sockets, the preferred one first. */
function directories(): Set<string> {
  const chosen = chosenDirectory();
  const own = `hedgerow-${userId()}`;
  // Processes of one user may have different values of TMPDIR.
  const temporary = [join("/tmp", own), join(tmpdir(), own)];
  // A login shell has the last one as XDG_RUNTIME_DIR, but a service of the same user may not.
  const last = `/run/user/${userId()}/hedgerow`;
  return new Set([...(chosen === undefined ? [] : [chosen]), ...temporary, last]);
}

/** Returns the directory in that of the environment, if it names one. */
function chosenDirectory(): string | undefined {
  const { XDG_RUNTIME_DIR } = process.env;
  return XDG_RUNTIME_DIR ? join(XDG_RUNTIME_DIR, "hedgerow") : undefined;
}

function userId(): number {
  return process.getuid?.() ?? 0;
}

/** Returns whether a directory exists. @throws {CliError} `ERR_OUTPUT` if other users may use it */
async function isPrivate(directory: string): Promise<boolean> {
  const found = await lstat(directory).catch(() => undefined);
  if (found === undefined) return false;
  if (found.isDirectory() && found.uid === userId() && (found.mode & 0o777 & ~PRIVATE) === 0)
    return true;
  const message = `${directory}: expected a directory that only this user owns and may use`;
  throw new CliError("ERR_OUTPUT", message);
}

async function nameOf(place: string, name: string): Promise<string> {
  const text = JSON.stringify([await resolvedPlace(place), name]);
  return createHash("sha256").update(text).digest("hex").slice(0, DIGITS);
}

/** Returns the canonical form of a store, which all paths to it share. */
async function resolvedPlace(place: string): Promise<string> {
  if (/^(?:s3|gs|az|azure):\/\//i.test(place)) return place;
  const path = /^file:\/\//i.test(place) ? fileURLToPath(place) : resolve(place);
  return realpath(path).catch(() => path);
}
