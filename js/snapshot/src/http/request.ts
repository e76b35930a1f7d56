import { type ResponseHead, responseFailure } from "./failure.js";

/** The target of a request, and its headers. */
export interface ServerRequest {
  /** Without a user. */
  readonly url: URL;
  /** Headers for this origin only, which may be secret. */
  readonly secret: Readonly<Record<string, string>>;
  /** Headers for any origin. */
  readonly condition: Readonly<Record<string, string>>;
  /** Whether the server is known to lack ranges that count from the end. Default: `false`. */
  readonly lacksSuffixRanges?: boolean;
}

/** Headers that frame the message. The caller cannot set them. */
const FRAMING: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "transfer-encoding",
]);

/**
 * Returns a request to a URL. The user of the URL becomes basic authorization.
 *
 * @param headers the caller's headers, for this origin only
 * @param condition preconditions, which redirects keep
 */
export function requestTo(
  url: URL,
  headers: Readonly<Record<string, string>> = {},
  condition: Readonly<Record<string, string>> = {},
): ServerRequest {
  const secret: Record<string, string> = {};
  const authorization = authorizationOf(url);
  if (authorization !== undefined) secret.authorization = authorization;
  for (const [name, value] of Object.entries(headers)) {
    if (!FRAMING.has(name.toLowerCase())) secret[name.toLowerCase()] = value;
  }
  return { url: withoutUser(url), secret, condition };
}

/** Returns basic authorization as the user of a URL, if it has one. */
export function authorizationOf({ username, password }: URL): string | undefined {
  if (username === "" && password === "") return undefined;
  const user = `${decoded(username)}:${decoded(password)}`;
  return `Basic ${Buffer.from(user).toString("base64")}`;
}

/** Returns a URL without its user. */
export function withoutUser(url: URL): URL {
  const plain = new URL(url);
  plain.username = "";
  plain.password = "";
  return plain;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

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
 * Returns the request to a new location, or undefined if it is missing, is not HTTP, or leaves TLS. Drops the caller's
 * headers if the origin changes.
 */
function redirected(from: ServerRequest, location: string | undefined): ServerRequest | undefined {
  if (location === undefined || !URL.canParse(location, from.url)) return undefined;
  const url = withoutUser(new URL(location, from.url));
  const isSafe = url.protocol === "https:" || url.protocol === from.url.protocol;
  if (!isSafe || !["http:", "https:"].includes(url.protocol)) return undefined;
  return { ...from, url, secret: url.origin === from.url.origin ? from.secret : {} };
}
