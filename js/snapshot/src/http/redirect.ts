import { type ServerRequest, withoutUser } from "./server-request.js";

/** How often a server may lead elsewhere. */
export const MAX_REDIRECTS = 5;

/**
 * The request that an answer leads to, or undefined if it leads nowhere, or from TLS to where there is
 * none. What the caller's headers say stays with the origin that they were said for.
 */
export function redirected(
  from: ServerRequest,
  location: string | undefined,
): ServerRequest | undefined {
  if (location === undefined || !URL.canParse(location, from.url)) return undefined;
  const url = withoutUser(new URL(location, from.url));
  const isSafe = url.protocol === "https:" || url.protocol === from.url.protocol;
  if (!isSafe || !["http:", "https:"].includes(url.protocol)) return undefined;
  return { ...from, url, secret: url.origin === from.url.origin ? from.secret : {} };
}
