import { type ResponseHead, responseFailure } from "./request-failure.js";
import { type ServerRequest, withoutUser } from "./server-request.js";

/** How many redirects in a row are followed. */
export const MAX_REDIRECTS = 5;

/** A response that redirects the request. */
export class Redirection {
  constructor(readonly response: ResponseHead) {}
}

/**
 * Sends a request, and sends it again to wherever the server redirects it.
 *
 * @param send sends a request once
 * @throws {RequestFailure} on a redirect that is not followed, and what `send` throws
 */
export async function followRedirects<T>(
  first: ServerRequest,
  send: (request: ServerRequest) => Promise<T | Redirection>,
): Promise<T> {
  let request = first;
  for (let redirects = 0; ; redirects += 1) {
    const result = await send(request);
    if (!(result instanceof Redirection)) return result;
    const next = redirected(request, result.response.headers.location);
    if (next === undefined || redirects === MAX_REDIRECTS) throw responseFailure(result.response);
    request = next;
  }
}

/**
 * Returns the request to a new location, or undefined if there is none, it is not HTTP, or it leads out of
 * TLS. The caller's headers stay with the origin that they were meant for.
 */
function redirected(from: ServerRequest, location: string | undefined): ServerRequest | undefined {
  if (location === undefined || !URL.canParse(location, from.url)) return undefined;
  const url = withoutUser(new URL(location, from.url));
  const isSafe = url.protocol === "https:" || url.protocol === from.url.protocol;
  if (!isSafe || !["http:", "https:"].includes(url.protocol)) return undefined;
  return { ...from, url, secret: url.origin === from.url.origin ? from.secret : {} };
}
