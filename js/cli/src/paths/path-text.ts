/** What may stand in the name of a file, and means something else in a URL or a key. */
const MEANINGFUL = /[%?#*]/g;
/** The same, in bytes that may be no characters. */
const MEANINGFUL_BYTE = /[%?#*\x80-\xff]/g;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * A name of a file, or a path of names, as a URL has it. What need not be encoded for
 * `normalizePath` to read it is not.
 *
 * @param name of bytes that are not UTF-8, those beyond ASCII are encoded one by one
 */
export function escapeName(name: string | Uint8Array): string {
  if (typeof name === "string") return name.replace(MEANINGFUL, escapeByte);
  let text: string;
  try {
    text = decoder.decode(name);
  } catch {
    // What is ASCII stays as it is: extensions and names in brackets mean something.
    return Buffer.from(name).toString("latin1").replace(MEANINGFUL_BYTE, escapeByte);
  }
  return escapeName(text);
}

function escapeByte(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** The path of a URL, of any host; what is no full URL is taken for a path. */
export function pathOf(url: string): string {
  return url.replace(/^[a-z][a-z\d+.-]*:\/\/[^/?#]*/i, "");
}

/** The part of a full URL before its path. */
export function originOf(url: string): string {
  return url.slice(0, url.length - pathOf(url).length).toLowerCase();
}
