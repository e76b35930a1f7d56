/** Stripping of Fetch requests and responses, many of which are immutable. */
import type { HeaderStripper } from "../headers/header-stripper.js";
import { isForbiddenNomination, type Stripping } from "./adapter.js";

/**
 * Strips a message in place, or a copy of it if it is immutable. In a dry run, strips only a copy of its headers.
 *
 * @returns the message or its copy, and the number of names removed
 */
export function strip<Message extends Request | Response>(
  { stripper, isDryRun, isObserved, note }: Stripping,
  message: Message,
  copy: (message: Message) => Message,
  stripHeaders = stripAll,
): [Message, removed: number] {
  const names = isObserved() ? [...message.headers.keys()] : [];
  let stripped = message;
  let headers = isDryRun ? new Headers(message.headers) : message.headers;
  let removed: number;
  try {
    removed = stripHeaders(stripper, headers);
  } catch (error) {
    // Removing the first name failed, so the message is unchanged.
    if (!(error instanceof Error) || error.name !== "TypeError") throw error;
    stripped = copy(message);
    headers = stripped.headers;
    removed = stripHeaders(stripper, headers);
  }
  note(names.filter((name) => !headers.has(name)));
  return [stripped, isDryRun ? 0 : removed];
}

function stripAll(stripper: HeaderStripper, headers: Headers): number {
  return stripper.strip(headers);
}

/** Strips the headers of a response. Ignores a `Connection` that nominates a field meant for all recipients. */
function stripResponseHeaders(stripper: HeaderStripper, headers: Headers): number {
  try {
    return stripper.strip(headers);
  } catch (error) {
    if (!isForbiddenNomination(error)) throw error;
    const names = new Set([...headers.keys()].filter((name) => stripper.strips(name)));
    for (const name of names) headers.delete(name);
    return names.size;
  }
}

/** Returns a request without the fields that the rules strip: `request` itself unless it is immutable. */
export function strippedRequest(stripping: Stripping, request: Request): Request {
  return strip(stripping, request, (original) => new Request(original))[0];
}

/**
 * Returns a response without the fields that the rules strip: `response` itself unless it is immutable. An
 * origin may send a head that a copy cannot have: a status above 599 becomes 502, and a reason phrase with
 * characters outside ASCII is dropped.
 */
export function strippedResponse(stripping: Stripping, response: Response): Response {
  return strip(stripping, response, copyOf, stripResponseHeaders)[0];
}

/** Reason phrases that all runtimes accept and return. */
const REASON = /^[\t -~]*$/;

function copyOf(response: Response): Response {
  const { body, headers, status, statusText } = response;
  if (status <= 599 && REASON.test(statusText)) return new Response(body, response);
  // Clients treat a status above 599 as a 5xx error (RFC 9110 §15). The headers are copied because a server
  // that replaces `Response` may keep the immutable ones.
  return new Response(body, { status: status > 599 ? 502 : status, headers: new Headers(headers) });
}

/** Returns the response to a request that is refused because of its `Connection`. */
export function badRequest(): Response {
  const headers = { "content-type": "text/plain; charset=utf-8" };
  return new Response("Bad Request\n", { status: 400, headers });
}
