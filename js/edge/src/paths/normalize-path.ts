import { checkString } from "../error.js";

/** Common paths that are already normal: no escapes, no empty segments, no segment that begins with a dot. */
const NORMAL = /^(?:\/|(?:\/[^/?#%.][^/?#%]*)+)$/;

/** Longest path matched against {@link NORMAL}: engines keep backtracking state for each segment. */
const MAX_MATCHED_LENGTH = 1 << 14;

const CONTINUATION = "%[89AB][\\dA-F]";

/** An escape: an encoded UTF-8 character, a byte that is not UTF-8, or a lone percent sign. */
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

/** A segment that is an encoded asterisk. */
const ENCODED_STAR = /^%2A$/i;

/** Parts of a text collected before they are joined, to bound the memory for many short ones. */
const MAX_PARTS = 1 << 12;

/**
 * Returns the normal form of a URL's path, in which filters store paths and guards look them up.
 *
 * 1. Cuts the path at the first `?` or `#`.
 * 2. Decodes percent-encoded UTF-8 characters except `%`, `/`, `?` and `#`. Escapes that remain, and bytes
 *    that are not UTF-8, are written with capital letters. A `%` that begins no escape becomes `%25`. `%2A`
 *    as the last segment remains, since `*` would make the path a wildcard key.
 * 3. Resolves the segments `.` and `..` (RFC 3986 §5.2.4), never above the root.
 * 4. Removes empty segments, and so repeated and trailing slashes. The result begins with a slash.
 *
 * Case and Unicode composition are kept. A normal path is returned unchanged. To normalise a file name,
 * percent-encode its `%`, `?`, `#` and `*` first.
 *
 * @throws {HedgerowError} `ERR_ARGUMENT` if `path` is not a string
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
  if (path.length <= MAX_MATCHED_LENGTH && NORMAL.test(path)) return path;
  const query = path.search(/[?#]/);
  let normal = "";
  let segments: string[] = [];
  let parents = 0;
  // Backwards, so that each `..` is known before the segment it removes.
  for (let end = query < 0 ? path.length : query; end >= 0; ) {
    const slash = end === 0 ? -1 : path.lastIndexOf("/", end - 1);
    const encoded = path.slice(slash + 1, end);
    const segment = decodeSegment(encoded);
    end = slash;
    if (segment === "..") parents += 1;
    else if (segment === ".") continue;
    else if (parents > 0) parents -= 1;
    else if (segment !== "") {
      const isLast = segments.length === 0 && normal === "";
      segments.push(isLast && ENCODED_STAR.test(encoded) ? "%2A" : segment);
    }
    if (segments.length === MAX_PARTS) {
      normal = `/${segments.reverse().join("/")}${normal}`;
      segments = [];
    }
  }
  if (segments.length > 0) return `/${segments.reverse().join("/")}${normal}`;
  return normal || "/";
}

/** Decodes the escapes of a segment. */
function decodeSegment(segment: string): string {
  let text = "";
  let parts: string[] = [];
  let end = 0;
  for (let at = segment.indexOf("%"); at >= 0; at = segment.indexOf("%", end)) {
    ESCAPE.lastIndex = at;
    const [encoded = "", character, byte] = ESCAPE.exec(segment) ?? [];
    parts.push(segment.slice(end, at), decodeEscape(encoded, character, byte));
    end = at + encoded.length;
    if (parts.length === MAX_PARTS) {
      text += parts.join("");
      parts = [];
    }
  }
  return text + parts.join("") + segment.slice(end);
}

function decodeEscape(encoded: string, character?: string, byte?: string): string {
  if (character !== undefined) {
    const decoded = decodeURIComponent(character);
    return /[%/?#]/.test(decoded) ? character.toUpperCase() : decoded;
  }
  return byte === undefined ? "%25" : encoded.toUpperCase();
}
