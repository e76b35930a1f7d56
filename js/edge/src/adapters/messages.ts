/** Strips requests and responses of the Fetch standard, of which many let nobody change their fields. */
import type { HeaderStripper } from "../headers/header-stripper.js";
import { isForbiddenNomination } from "./refusal.js";

/**
 * Strips a message: in place, or a copy where the message is one that nobody may change.
 *
 * @returns the message or its copy, and how many names went
 */
export function strip<Message extends Request | Response>(
  stripper: HeaderStripper,
  message: Message,
  copy: (message: Message) => Message,
  stripHeaders = stripAll,
): [Message, gone: number] {
  const { headers } = message;
  try {
    return [message, stripHeaders(stripper, headers)];
  } catch (error) {
    // The first name could not be removed, so that all of them are still there.
    if (!(error instanceof Error) || error.name !== "TypeError") throw error;
  }
  const own = copy(message);
  return [own, stripHeaders(stripper, own.headers)];
}

function stripAll(stripper: HeaderStripper, headers: Headers): number {
  return stripper.strip(headers);
}

/**
 * Strips what rules match, where a `Connection` of a response nominates a field for all recipients: it
 * then nominates nothing.
 */
function stripResponseHeaders(stripper: HeaderStripper, headers: Headers): number {
  try {
    return stripper.strip(headers);
  } catch (error) {
    if (!isForbiddenNomination(error)) throw error;
    const names = new Set([...headers.keys()].filter((name) => stripper.matches(name)));
    for (const name of names) headers.delete(name);
    return names.size;
  }
}

/** A request without the fields that the rules match: `request` itself if that can be changed. */
export function strippedRequest(stripper: HeaderStripper, request: Request): Request {
  return strip(stripper, request, (original) => new Request(original))[0];
}

/**
 * A response without the fields that the rules match: `response` itself if that can be changed, else a copy.
 * An origin may send what no copy can have: of a status above 599 it becomes 502, and a reason goes if it has
 * characters outside of ASCII.
 */
export function strippedResponse(stripper: HeaderStripper, response: Response): Response {
  return strip(stripper, response, copyOf, stripResponseHeaders)[0];
}

/** What every runtime takes for a reason, or gives as one. */
const REASON = /^[\t -~]*$/;

function copyOf(response: Response): Response {
  const { body, headers, status, statusText } = response;
  if (status <= 599 && REASON.test(statusText)) return new Response(body, response);
  // A client treats a status above 599 as one of 5xx (RFC 9110 §15): the origin made a mistake. Copies the
  // headers because a server that replaces `Response` may keep the immutable ones.
  return new Response(body, { status: status > 599 ? 502 : status, headers: new Headers(headers) });
}
