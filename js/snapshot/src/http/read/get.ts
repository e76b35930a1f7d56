import type { IncomingMessage } from "node:http";

import type { Transfer } from "../../options/transfer-options.js";
import { followRedirects, Redirection } from "../redirect.js";
import type { ServerRequest } from "../server-request.js";
import { HttpClient } from "./client.js";
import type { Download } from "./download.js";

/** The statuses that redirect a `GET`. */
const REDIRECTS: ReadonlySet<unknown> = new Set([301, 302, 303, 307, 308]);

/** A response whose body has not been read yet. */
export interface OpenResponse {
  readonly response: IncomingMessage;
  readonly download: Download;
  /** The request that was answered, after all redirects. */
  readonly request: ServerRequest;
  /** Leaves the connection open for further requests, and returns the client that has it. Its owner closes it. */
  keep(): HttpClient;
}

/**
 * Sends a `GET`, follows redirects, and passes the response to `use`. The connection is closed when `use` is
 * done, unless it was kept.
 *
 * @throws {RequestFailure} the signal's reason, and what `use` throws
 */
export function get<T>(
  first: ServerRequest,
  headers: Readonly<Record<string, string>>,
  { timeouts }: Transfer,
  signal: AbortSignal | undefined,
  use: (response: OpenResponse) => Promise<T>,
): Promise<T> {
  return followRedirects(first, async (request) => {
    signal?.throwIfAborted();
    const client = new HttpClient({ url: request.url.href, headers: request.secret }, timeouts);
    const download = client.get(headers);
    const cancel = () => download.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    let isKept = false;
    const keep = () => {
      isKept = true;
      return client;
    };
    try {
      const response = await download.response();
      if (REDIRECTS.has(response.statusCode)) return new Redirection(response);
      return await use({ response, download, request, keep });
    } finally {
      signal?.removeEventListener("abort", cancel);
      download.cancel();
      if (!isKept) client.close();
    }
  });
}
