/** Characters that are valid in file names and special in URLs or path keys. */
const SPECIAL = /[%?#*]/g;
/** The same for names that are not UTF-8: every non-ASCII byte is escaped too. */
const SPECIAL_BYTE = /[%?#*\x80-\xff]/g;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * Percent-encodes the characters of a file name, or a path of names, that are special in URLs or keys.
 *
 * @param name if it is not UTF-8, each non-ASCII byte is encoded too
 */
export function escapeName(name: string | Uint8Array): string {
  if (typeof name === "string") return name.replace(SPECIAL, escapeByte);
  let text: string;
  try {
    text = decoder.decode(name);
  } catch {
    // ASCII is kept: extensions and names in brackets are read later.
    return Buffer.from(name).toString("latin1").replace(SPECIAL_BYTE, escapeByte);
  }
  return escapeName(text);
}

function escapeByte(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** Returns the path of a URL; text that is not an absolute URL is taken as a path. */
export function pathOf(url: string): string {
  return url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, "");
}

/** Returns the part of an absolute URL before its path, in lower case. */
export function originOf(url: string): string {
  return url.slice(0, url.length - pathOf(url).length).toLowerCase();
}
