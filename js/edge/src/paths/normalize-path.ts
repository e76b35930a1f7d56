import { checkString } from "../error.js";

/** Paths that are as they should be: no escapes, no empty segments, none that begins with a dot. */
const NORMAL = /^(?:\/|(?:\/[^/?#%.][^/?#%]*)+)$/;

const CONTINUATION = "%[89AB][\\dA-F]";

/** What an escape may be: a character of UTF-8, a byte that is in none, or a lone percent sign. */
const ESCAPE = new RegExp(
  [
    "(%[0-7][\\dA-F]",
    `%(?:C[2-9A-F]|D[\\dA-F])${CONTINUATION}`,
    `%(?:E0%[AB][\\dA-F]|E[1-9A-CEF]${CONTINUATION}|ED%[89][\\dA-F])${CONTINUATION}`,
    `%(?:F0%[9AB][\\dA-F]|F[1-3]${CONTINUATION}|F4%8[\\dA-F])${CONTINUATION}${CONTINUATION})`,
    "(%[\\dA-F]{2})",
    "%",
  ].join("|"),
  "gi",
);

/**
 * The one form of a path in which builders write it and the guard asks for it.
 *
 * 1. The query and the fragment are cut off, at the first `?` or `#`.
 * 2. Percent-encoded characters of UTF-8 are decoded, except for `%`, `/`, `?` and `#`. What remains
 *    encoded is written with capital letters, and so are bytes that are not UTF-8. A `%` that begins
 *    no escape becomes `%25`.
 * 3. Segments `.` and `..` are resolved (RFC 3986 §5.2.4), never beyond the root.
 * 4. Empty segments go, and with them repeated slashes and a slash at the end. There is always one
 *    at the beginning.
 *
 * It takes the path of a URL. In the name of a file, `%`, `?` and `#` have to be percent-encoded first.
 *
 * Letters keep their case, and Unicode its composition. A normal path is its own normal form.
 *
 * @throws {HedgerowError} `ERR_ARGUMENT` for what is not a string
 *
 * @example
 * ```ts
 * import { normalizePath } from "hedgerow";
 *
 * normalizePath("//caf%C3%A9/./menu/?day=1"); // "/café/menu"
 * normalizePath("/a%2fb/100%"); // "/a%2Fb/100%25"
 * ```
 */
export function normalizePath(path: string): string {
  checkString("a path", path);
  if (NORMAL.test(path)) return path;
  const end = path.search(/[?#]/);
  const segments: string[] = [];
  const rooted = path.slice(path.startsWith("/") ? 1 : 0, end < 0 ? path.length : end);
  for (const encoded of rooted.split("/")) {
    const segment = encoded.replace(ESCAPE, decode);
    if (segment === "..") segments.pop();
    else if (segment !== ".") segments.push(segment);
  }
  return `/${segments.filter((segment) => segment !== "").join("/")}`;
}

function decode(encoded: string, character?: string, byte?: string): string {
  if (character !== undefined) {
    const decoded = decodeURIComponent(character);
    return /[%/?#]/.test(decoded) ? character.toUpperCase() : decoded;
  }
  return byte === undefined ? "%25" : encoded.toUpperCase();
}
