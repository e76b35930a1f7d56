// Reads requests of pods, which may be hostile: they choose neither servers nor paths.
import { invalid, readJson } from "../http.mjs";

/** The maximum length of a request, in bytes. */
const MAX_BODY = 4_096;

/** The digest of a snapshot. */
const DIGEST = /^[0-9a-f]{64}$/;

/** The rest of a source after its prefix: a path that nothing normalises, decodes or hides. */
const REST = /^[\w-][\w.-]*(\/[\w-][\w.-]*)*$/;

/** The name of a copy: a file in the folder of copies, which is not hidden. */
const NAME = /^[\w-][\w.-]{0,127}$/;

/** @typedef {{ source: string, digest: string, copyTo: string | undefined }} ImageRequest */

/**
 * Reads a request for an image.
 *
 * @param {import("node:http").IncomingMessage} request
 * @param {readonly string[]} prefixes of the sources
 * @returns {Promise<ImageRequest>}
 */
export async function readRequest(request, prefixes) {
  const body = await readJson(request, MAX_BODY);
  if (typeof body !== "object" || body === null) throw invalid("expected an object");
  const { source, digest, copyTo, ...others } = /** @type {Record<string, unknown>} */ (body);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalid("expected source, digest and copyTo only");
  if (!isMatch(DIGEST, digest)) throw invalid("digest: expected 64 hexadecimal digits");
  if (typeof source !== "string") throw invalid("source: expected a URL");
  const prefix = prefixes.find((each) => source.startsWith(each));
  if (prefix === undefined || !REST.test(source.slice(prefix.length))) {
    throw invalid("source: expected one of the URLs that this node may read");
  }
  if (copyTo !== undefined && !isMatch(NAME, copyTo)) {
    throw invalid("copyTo: expected the name of a file, of letters, digits, `.`, `_` and `-`");
  }
  return { source, digest, copyTo };
}

/** @param {RegExp} pattern @param {unknown} value @returns {value is string} */
const isMatch = (pattern, value) => typeof value === "string" && pattern.test(value);
