// Builds responses to requests for files, faults included.
import { parseRange } from "./resource.mjs";

/** @typedef {import("./fault.mjs").Fault} Fault */
/** @typedef {import("./resource.mjs").Resource} Resource */

/**
 * The head of a response, and the bytes of the file that follow it.
 *
 * @typedef {object} Answer
 * @property {number} status
 * @property {Record<string, string | number>} headers
 * @property {number} start
 * @property {number} end
 */

/**
 * @param {Resource} resource
 * @param {string} method
 * @param {import("node:http").IncomingHttpHeaders} headers
 * @param {Fault} fault
 * @returns {Answer}
 */
export function answerWithFile(resource, method, headers, fault) {
  const { size } = resource;
  const etag = fault.etag === undefined ? resource.etag : fault.etag;
  const { lastModified } = fault;
  const about = {
    "Accept-Ranges": "bytes",
    ...(etag !== null && { ETag: etag }),
    ...(lastModified !== undefined && { "Last-Modified": lastModified }),
  };
  const isSame = matches(headers["if-match"], etag) && isUnmodified(headers, lastModified);
  if (!fault.ignoreIfMatch && !isSame) return withoutBody(412, about);
  const whole = method !== "GET" || fault.ignoreRange;
  const range = whole ? undefined : parseRange(headers.range, size);
  if (range === "unsatisfiable") {
    return withoutBody(416, { ...about, "Content-Range": `bytes */${size}` });
  }
  const { start, end } = range ?? { start: 0, end: size };
  const contentRange = range && contentRangeOf(start, end, size, fault.contentRange);
  return {
    status: range === undefined ? 200 : 206,
    headers: {
      ...about,
      "Content-Type": "application/octet-stream",
      "Content-Length": end - start,
      ...(contentRange && { "Content-Range": contentRange }),
      ...(fault.encoding !== undefined && { "Content-Encoding": fault.encoding }),
    },
    start,
    end,
  };
}

/** @param {number} status @param {Answer["headers"]} headers @returns {Answer} */
export function withoutBody(status, headers = {}) {
  return { status, headers: { "Content-Length": 0, ...headers }, start: 0, end: 0 };
}

/**
 * Returns whether `If-Match` allows a file with an `ETag`. A weak one never matches.
 *
 * @param {string | undefined} header
 * @param {string | null} etag
 */
export function matches(header, etag) {
  if (header === undefined || header.trim() === "*") return true;
  const isStrong = etag?.startsWith('"') ?? false;
  return isStrong && header.split(",").some((one) => one.trim() === etag);
}

/**
 * Returns whether `If-Unmodified-Since` allows a file with a date. `If-Match` overrides it.
 *
 * @param {import("node:http").IncomingHttpHeaders} headers
 * @param {string | undefined} lastModified
 */
function isUnmodified(headers, lastModified) {
  const since = headers["if-unmodified-since"];
  if (headers["if-match"] !== undefined || since === undefined || lastModified === undefined) {
    return true;
  }
  return Date.parse(lastModified) <= Date.parse(since);
}

/**
 * @param {number} start
 * @param {number} end
 * @param {number} size
 * @param {Fault["contentRange"]} lie
 */
function contentRangeOf(start, end, size, lie) {
  switch (lie) {
    case "none":
      return undefined;
    case "shifted":
      return `bytes ${start + 1}-${end}/${size + 1}`;
    case "wrong total":
      return `bytes ${start}-${end - 1}/${size + 1}`;
    default:
      return `bytes ${start}-${end - 1}/${size}`;
  }
}
