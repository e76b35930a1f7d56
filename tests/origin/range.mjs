// What part of a file a request asks for.

/** From `start` up to, but not including, `end`. @typedef {{ start: number, end: number }} Range */

/**
 * The one range that a `Range` header asks for. A header that asks for several, or for what is no
 * range, is as if it were not there, which HTTP allows.
 *
 * @param {string | undefined} header
 * @param {number} size
 * @returns {Range | "unsatisfiable" | undefined}
 */
export function parseRange(header, size) {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header?.trim() ?? "");
  if (match === null || match[0] === "bytes=-") return undefined;
  const [, first, last] = match;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size };
  }
  const start = Number(first);
  const end = last === "" ? size : Math.min(Number(last) + 1, size);
  if (last !== "" && Number(last) < start) return undefined;
  return start < size ? { start, end } : "unsatisfiable";
}
