/** What is asked of a server, or sent to it. */
export interface ServerRequest {
  /** It has no user. */
  readonly url: URL;
  /** Headers for this origin only. */
  readonly secret: Readonly<Record<string, string>>;
  /** Headers for any origin. */
  readonly condition: Readonly<Record<string, string>>;
}

/** What a request says of its body, and is not for callers to say. */
const OWN: ReadonlySet<string> = new Set([
  "connection",
  "content-length",
  "expect",
  "host",
  "transfer-encoding",
]);

/**
 * A request to a URL, whose user becomes basic authorization.
 *
 * @param headers what the caller wants it to carry, which nobody else may see
 * @param condition what it says wherever it goes
 */
export function requestTo(
  url: URL,
  headers: Readonly<Record<string, string>> = {},
  condition: Readonly<Record<string, string>> = {},
): ServerRequest {
  const secret: Record<string, string> = {};
  if (url.username !== "" || url.password !== "") {
    const user = `${decoded(url.username)}:${decoded(url.password)}`;
    secret.authorization = `Basic ${Buffer.from(user).toString("base64")}`;
  }
  for (const [name, value] of Object.entries(headers)) {
    if (!OWN.has(name.toLowerCase())) secret[name.toLowerCase()] = value;
  }
  return { url: withoutUser(url), secret, condition };
}

/** A URL without what becomes a header. */
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
