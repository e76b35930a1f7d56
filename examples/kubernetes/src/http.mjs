// JSON over HTTP for callers that are not trusted: bounded bodies and times, and typed errors.
import { once } from "node:events";
import { chmodSync, rmSync } from "node:fs";
import { createServer } from "node:http";

/** How long a request may take to arrive, in milliseconds, and how often that is checked. */
const [TIMEOUT, INTERVAL] = [5_000, 1_000];

/** An error that is the fault of the caller, or that the caller needs to know. */
export class RequestError extends Error {
  /** @param {number} status @param {string} code @param {string} message */
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/**
 * Returns a server of JSON. Errors are `{ "error": { "code", "message" } }`.
 *
 * @param {(request: import("node:http").IncomingMessage) => Promise<unknown> | unknown} answer
 * @param {number} maxConnections more are closed at once
 */
export function jsonServer(answer, maxConnections) {
  const limits = { requestTimeout: TIMEOUT, headersTimeout: TIMEOUT };
  const options = { ...limits, connectionsCheckingInterval: INTERVAL };
  const server = createServer(options, async (request, response) => {
    let [status, body] = [200, /** @type {unknown} */ (undefined)];
    try {
      body = await answer(request);
    } catch (error) {
      ({ status, body } = failure(error));
    }
    // The rest of a body that was refused is not read.
    if (!request.complete || !server.listening) response.setHeader("connection", "close");
    response.writeHead(status, { "content-type": "application/json" });
    response.end(`${JSON.stringify(body)}\n`);
  });
  server.maxConnections = maxConnections;
  server.on("clientError", (_, socket) => void socket.destroy());
  return server;
}

/** @param {unknown} error */
function failure(error) {
  if (error instanceof RequestError) {
    const { status, code, message } = error;
    return { status, body: { error: { code, message } } };
  }
  console.error(error);
  return { status: 500, body: { error: { code: "ERR_INTERNAL", message: "see the log" } } };
}

/**
 * Reads a body of at most `maxBytes` as JSON.
 *
 * @param {import("node:http").IncomingMessage} request
 * @param {number} maxBytes
 * @returns {Promise<unknown>}
 */
export async function readJson(request, maxBytes) {
  const chunks = [];
  let left = maxBytes - Number(request.headers["content-length"] ?? 0);
  if (left >= 0) {
    left = maxBytes;
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      chunks.push(chunk);
      left -= chunk.length;
      if (left < 0) break;
    }
  }
  if (left < 0) {
    throw new RequestError(413, "ERR_TOO_LARGE", `expected at most ${maxBytes} bytes`);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString());
  } catch {
    throw invalid("expected JSON");
  }
}

/** Returns the error for a request that is not as expected. @param {string} message */
export function invalid(message) {
  return new RequestError(400, "ERR_REQUEST", message);
}

/**
 * Listens at a Unix socket, for this user alone.
 *
 * @param {import("node:http").Server} server
 * @param {string} socket
 */
export async function listenAt(server, socket) {
  // A program that was killed has left its socket.
  rmSync(socket, { force: true });
  server.listen(socket);
  await once(server, "listening");
  chmodSync(socket, 0o600);
}

/**
 * Listens, and returns the URL on this machine.
 *
 * @param {import("node:http").Server} server
 * @param {{ port: number, host: string | undefined }} where
 */
export async function listen(server, where) {
  server.listen(where);
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return `http://127.0.0.1:${port}`;
}
