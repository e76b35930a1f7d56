import type { IncomingMessage } from "node:http";

import type { Transfer } from "../../options/transfer-options.js";
import { HttpClient } from "../client.js";
import { refused } from "../failure.js";
import { MAX_REDIRECTS, redirected } from "../redirect.js";
import type { ServerRequest } from "../server-request.js";
import type { Download } from "./download.js";

/** The statuses of answers that lead elsewhere. */
const REDIRECTS: ReadonlySet<unknown> = new Set([301, 302, 303, 307, 308]);

/** An answer of which the body is still to come. */
export interface Answer {
  readonly response: IncomingMessage;
  readonly download: Download;
  /** What was answered, after all redirects. */
  readonly request: ServerRequest;
}

/**
 * Asks for something, wherever that leads to, and has `use` make something of the answer.
 *
 * @throws {Failure} the signal's reason, and what `use` throws
 */
export async function follow<T>(
  first: ServerRequest,
  headers: Readonly<Record<string, string>>,
  { timeouts }: Transfer,
  signal: AbortSignal | undefined,
  use: (answer: Answer) => Promise<T>,
): Promise<T> {
  let request = first;
  for (let redirects = 0; ; redirects += 1) {
    signal?.throwIfAborted();
    const client = new HttpClient({ url: request.url.href, headers: request.secret }, timeouts);
    const download = client.get(headers);
    const cancel = () => download.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      const response = await download.answer();
      const { statusCode } = response;
      if (!REDIRECTS.has(statusCode)) return await use({ response, download, request });
      const next = redirected(request, response.headers.location);
      if (next === undefined || redirects === MAX_REDIRECTS) {
        throw refused(response);
      }
      request = next;
    } finally {
      signal?.removeEventListener("abort", cancel);
      download.cancel();
      client.close();
    }
  }
}
