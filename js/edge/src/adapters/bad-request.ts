/** Rejection of requests whose `Connection` nominates a field meant for all recipients. */
import type { ServerResponse } from "node:http";

const BAD_REQUEST = "Bad Request\n";
const TEXT = "text/plain; charset=utf-8";

/**
 * Returns whether an error says that `Connection` nominates a field meant for all recipients. Compares the
 * code, since `hedgerow/slim` defines an error class of its own.
 */
export function isForbiddenNomination(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "ERR_CONNECTION_OPTION";
}

/** Returns the 400 response. */
export function badRequest(): Response {
  return new Response(BAD_REQUEST, { status: 400, headers: { "content-type": TEXT } });
}

/** Sends the 400 response and closes the connection. Only HTTP/1.1 has such requests. */
export function sendBadRequest(response: ServerResponse): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  // Earlier middleware may have set these for another body.
  for (const name of ["content-encoding", "transfer-encoding"]) {
    if (response.hasHeader(name)) response.removeHeader(name);
  }
  // `connection: close` below is not enough if rules strip `Connection`.
  response.shouldKeepAlive = false;
  response.writeHead(400, {
    "content-type": TEXT,
    "content-length": BAD_REQUEST.length,
    connection: "close",
  });
  response.end(BAD_REQUEST);
}
