import { checkString } from "../error.js";

/** Paths that are as they should be: no escapes, no empty segments, none that begins with a dot. */
const NORMAL = /^(?:\/|(?:\/[^/?#%.][^/?#%]*)+)$/;

/** The length of the longest path that is matched: engines keep a way back for each segment. */
const LONGEST_MATCHED = 1 << 14;

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

/** A segment that is an encoded star. */
const STAR = /^%2A$/i;

/** How many parts of a text are kept before they are joined: many short ones take more memory. */
const MOST_PARTS = 1 << 12;

/**
 * The one form of a path in which builders write it and the guard asks for it.
 *
 * 1. The query and the fragment are cut off, at the first `?` or `#`.
 * 2. Percent-encoded characters of UTF-8 are decoded, except for `%`, `/`, `?` and `#`. What remains
 *    encoded is written with capital letters, and so are bytes that are not UTF-8. A `%` that begins
 *    no escape becomes `%25`. A last segment that is `%2A` stays as it is: with `*` in its place, the
 *    path would be a wildcard key.
 * 3. Segments `.` and `..` are resolved (RFC 3986 §5.2.4), never beyond the root.
 * 4. Empty segments go, and with them repeated slashes and a slash at the end. There is always one
 *    at the beginning.
 *
 * It takes the path of a URL. In the name of a file, `%`, `?`, `#` and `*` have to be percent-encoded
 * first.
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
  if (path.length <= LONGEST_MATCHED && NORMAL.test(path)) return path;
  const query = path.search(/[?#]/);
  let normal = "";
  let segments: string[] = [];
  let parents = 0;
  // From the end on, as it is known there which segments those that are `..` will take away.
  for (let end = query < 0 ? path.length : query; end >= 0; ) {
    const slash = end === 0 ? -1 : path.lastIndexOf("/", end - 1);
    const encoded = path.slice(slash + 1, end);
    const segment = decoded(encoded);
    end = slash;
    if (segment === "..") parents += 1;
    else if (segment === ".") continue;
    else if (parents > 0) parents -= 1;
    else if (segment !== "") {
      const isLast = segments.length === 0 && normal === "";
      segments.push(isLast && STAR.test(encoded) ? "%2A" : segment);
    }
    if (segments.length === MOST_PARTS) {
      normal = `/${segments.reverse().join("/")}${normal}`;
      segments = [];
    }
  }
  if (segments.length > 0) return `/${segments.reverse().join("/")}${normal}`;
  return normal || "/";
}

/** A segment without escapes. */
function decoded(segment: string): string {
  let text = "";
  let parts: string[] = [];
  let end = 0;
  for (let at = segment.indexOf("%"); at >= 0; at = segment.indexOf("%", end)) {
    ESCAPE.lastIndex = at;
    const [encoded = "", character, byte] = ESCAPE.exec(segment) ?? [];
    parts.push(segment.slice(end, at), decode(encoded, character, byte));
    end = at + encoded.length;
    if (parts.length === MOST_PARTS) {
      text += parts.join("");
      parts = [];
    }
  }
  return text + parts.join("") + segment.slice(end);
}

function decode(encoded: string, character?: string, byte?: string): string {
  if (character !== undefined) {
    const decoded = decodeURIComponent(character);
    return /[%/?#]/.test(decoded) ? character.toUpperCase() : decoded;
  }
  return byte === undefined ? "%25" : encoded.toUpperCase();
}
