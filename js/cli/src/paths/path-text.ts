/** What may stand in the name of a file, and means something else in a URL. */
const MEANINGFUL = /[%?#]/g;

/**
 * A name of a file, or a path of names, as a URL has it. What need not be encoded for
 * `normalizePath` to read it is not.
 *
 * @param name bytes that are not UTF-8 are encoded one by one
 */
export function escapeName(name: string | Uint8Array): string {
  const text = typeof name === "string" ? name : new TextDecoder().decode(name);
  if (typeof name !== "string" && text.includes("\ufffd")) {
    return Array.from(name, (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("");
  }
  return text.replace(MEANINGFUL, encodeURIComponent);
}

/** The path of a URL, of any host; what is no full URL is taken for a path. */
export function pathOf(url: string): string {
  return url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, "");
}

/** The part of a full URL before its path. */
export function originOf(url: string): string {
  return url.slice(0, url.length - pathOf(url).length).toLowerCase();
}
