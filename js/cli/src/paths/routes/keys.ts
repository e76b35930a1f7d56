import { ANY, OPEN, variationsOf } from "./variations.js";

/** The key that stands for everything: with it, a filter refuses nothing. */
export const EVERYTHING = "/*";

/**
 * The keys for what a regular expression of paths matches: the path where all of it is literal, else
 * a wildcard for the last directory that is.
 *
 * @throws SyntaxError
 */
export function keysOfPattern(source: string): string[] {
  const keys = variationsOf(source, new Set()).flatMap(({ text }) => [...keysOfText(text)]);
  return [...new Set(keys)];
}

/** The keys for the text of a variation. */
export function* keysOfText(text: string): Generator<string> {
  const end = text.search(OPEN);
  if (end < 0) {
    yield text || "/";
    return;
  }
  const prefix = text.slice(0, end);
  const folder = prefix.slice(0, prefix.lastIndexOf("/") + 1) || "/";
  yield `${folder}*`;
  // A wildcard does not stand for the directory itself; the pattern may.
  const mayEnd = !text.slice(end).replaceAll(ANY, "");
  if (prefix === "" || (prefix === folder && mayEnd)) yield folder;
}

/** The keys for a directory that is not read: of its index, and of whatever is below it. */
export function keysOfFolder(path: string): string[] {
  return [path, `${path}/*`];
}

/**
 * The keys for a page as frameworks write it: `[name]` in a segment stands for what varies,
 * `[[...name]]` for that or nothing.
 */
export function* keysOfPage(page: string): Generator<string> {
  const segments = page.split("/");
  const index = segments.findIndex((segment) => segment.includes("["));
  if (index < 0) {
    yield page;
    return;
  }
  const folder = segments.slice(0, index).join("/");
  yield `${folder}/*`;
  if (segments[index]?.startsWith("[[")) yield folder || "/";
}

/**
 * A key, and how it is most often written where letters of either case match: keys are compared with
 * their case, so that of all spellings these two are known.
 */
export function eitherCase(key: string): string[] {
  const lower = key.toLowerCase();
  return lower === key ? [key] : [key, lower];
}
