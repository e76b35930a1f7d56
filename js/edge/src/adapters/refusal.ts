/** Refuses requests whose `Connection` nominates a field for all recipients. */
import type { ServerResponse } from "node:http";

const BAD_REQUEST = "Bad Request\n";
const TEXT = "text/plain; charset=utf-8";

/**
 * Whether an error says that `Connection` nominates a field for all recipients. By its code:
 * `hedgerow/slim` has a class of its own.
 */
export function isForbiddenNomination(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "ERR_CONNECTION_OPTION";
}

/** Runs `strip`. Returns whether the request is to be refused. */
export function isRefused(strip: () => void): boolean {
  try {
    strip();
    return false;
  } catch (error) {
    if (!isForbiddenNomination(error)) throw error;
    return true;
  }
}

/** The answer to a request that is refused. */
export function badRequest(): Response {
  return new Response(BAD_REQUEST, { status: 400, headers: { "content-type": TEXT } });
}

/** Answers a request that is refused, and closes the connection. There are none over HTTP/2. */
export function answerBadRequest(response: ServerResponse): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  // What was set for another answer.
  for (const name of ["content-encoding", "transfer-encoding"]) {
    if (response.hasHeader(name)) response.removeHeader(name);
  }
  // Also where rules strip `Connection`.
  response.shouldKeepAlive = false;
  response.writeHead(400, {
    "content-type": TEXT,
    "content-length": BAD_REQUEST.length,
    connection: "close",
  });
  response.end(BAD_REQUEST);
}
