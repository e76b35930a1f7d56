/** Keys of filters: how paths, patterns and names of files become keys. */
import type { Json } from "../files/json.js";
import { ANY, OPEN, variationsOf } from "./routes/variations.js";

/** The catch-all key: a filter that contains it rejects nothing. */
export const EVERYTHING = "/*";

/** Ends a warning about middleware that may answer any path. */
export const IGNORE_MIDDLEWARE =
  "; pass --ignore-middleware if it only adds headers or rejects paths";

/**
 * Returns keys that cover every path that a regular expression matches: the path itself if the
 * expression is literal, else a wildcard below its last literal directory.
 *
 * @throws SyntaxError
 */
export function keysOfPattern(source: string): string[] {
  const keys = variationsOf(source, new Set()).flatMap(({ text }) => [...keysOfText(text)]);
  return [...new Set(keys)];
}

/** Yields the keys for the text of a variation. */
export function* keysOfText(text: string): Generator<string> {
  const end = text.search(OPEN);
  if (end < 0) {
    yield text || "/";
    return;
  }
  const prefix = text.slice(0, end);
  const directory = prefix.slice(0, prefix.lastIndexOf("/") + 1) || "/";
  yield `${directory}*`;
  // A wildcard does not cover the directory itself, which the pattern may match.
  const mayEnd = !text.slice(end).replaceAll(ANY, "");
  if (prefix === "" || (prefix === directory && mayEnd)) yield directory;
}

/** Returns the keys for a directory that was not read: its index and a wildcard. */
export function keysOfDirectory(path: string): string[] {
  return [path, `${path}/*`];
}

/**
 * Yields the keys for a page in framework notation, in which `[name]` is a dynamic segment and
 * `[[...name]]` an optional one.
 */
export function* keysOfPage(page: string): Generator<string> {
  const segments = page.split("/");
  const index = segments.findIndex((segment) => segment.includes("["));
  if (index < 0) {
    yield page;
    return;
  }
  const directory = segments.slice(0, index).join("/");
  yield `${directory}/*`;
  if (segments[index]?.startsWith("[[")) yield directory || "/";
}

/**
 * Returns a key as written and in lower case, for a route that ignores case: filters compare
 * exactly, so of all spellings only these two are found.
 */
export function eitherCase(key: string): string[] {
  const lower = key.toLowerCase();
  return lower === key ? [key] : [key, lower];
}

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

/** Reads an untrusted regular expression. Errors name where it is. */
export function readPattern<T>(json: Json, read: (source: string) => T): T {
  const source = json.string();
  try {
    return read(source);
  } catch (error) {
    // A RangeError is a stack overflow from deeply nested groups.
    if (error instanceof SyntaxError || error instanceof RangeError) {
      throw json.error("a regular expression");
    }
    throw error;
  }
}
