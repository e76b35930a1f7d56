import { fileURLToPath } from "node:url";

import { messageOf, SnapshotError } from "../error.js";

/** Where a snapshot is, or is to be. */
export type Location =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "http"; readonly url: URL }
  | { readonly kind: "s3"; readonly bucket: string; readonly key: string };

/** What begins like a URL, and not like a path. */
const SCHEME = /^[a-z][a-z0-9+.-]+:\/\//i;

/**
 * The place that a source or destination names: a path, or a URL of `file:`, `http:`, `https:`, or
 * `s3://bucket/key`.
 *
 * @param what the argument, for messages
 * @throws {SnapshotError} `ERR_ARGUMENT`
 */
export function locationOf(what: string, location: string | URL): Location {
  const url = urlOf(location);
  if (url === undefined) return { kind: "file", path: checkedPath(what, location) };
  switch (url.protocol) {
    case "file:":
      return { kind: "file", path: pathOf(what, url) };
    case "http:":
    case "https:":
      return { kind: "http", url };
    case "s3:":
      return objectOf(what, typeof location === "string" ? location : textOf(url));
  }
  // A URL may carry credentials: only its scheme is told.
  const expected = "expected a path, or a URL of file:, http:, https: or s3:";
  throw new SnapshotError("ERR_ARGUMENT", `${what}: ${expected}, found ${url.protocol}`);
}

/**
 * The path that an argument names, which can only be a path or a `file:` URL.
 *
 * @throws {SnapshotError} `ERR_ARGUMENT`
 */
export function localPath(what: string, location: string | URL): string {
  const url = urlOf(location);
  if (url === undefined) return checkedPath(what, location);
  if (url.protocol === "file:") return pathOf(what, url);
  const message = `${what}: expected a path or a file: URL, found ${url.protocol}`;
  throw new SnapshotError("ERR_ARGUMENT", message);
}

/** The URL that a location is, as it is now, or undefined if it can only be a path. */
function urlOf(location: unknown): URL | undefined {
  try {
    const isOne = typeof location === "string" ? SCHEME.test(location) : location instanceof URL;
    return isOne ? new URL(location as string | URL) : undefined;
  } catch {
    return undefined;
  }
}

function pathOf(what: string, url: URL): string {
  try {
    return checkedPath(what, fileURLToPath(url));
  } catch (cause) {
    if (cause instanceof SnapshotError) throw cause;
    throw new SnapshotError("ERR_ARGUMENT", `${what}: ${messageOf(cause)}`, { cause });
  }
}

function checkedPath(what: string, path: unknown): string {
  if (typeof path !== "string") {
    throw new SnapshotError("ERR_ARGUMENT", `${what}: expected a path, found ${typeof path}`);
  }
  // What could not be read as a URL may carry credentials as well.
  const found = SCHEME.test(path) ? "a URL that is none" : JSON.stringify(path);
  if (path !== "" && !path.includes("\0") && !SCHEME.test(path)) return path;
  throw new SnapshotError("ERR_ARGUMENT", `${what}: expected a path, found ${found}`);
}

/** What no request can carry: URLs leave out `.` and `..`, some servers empty segments, and UTF-8 has no halves. */
const UNFIT_SEGMENT = /^\.{0,2}$|\p{Surrogate}/u;

/** The object that a text names: its key as it is. */
function objectOf(what: string, text: string): Location {
  const [, bucket, key] = /^s3:\/\/([^/?#@:]+)\/(.+)$/is.exec(text) ?? [];
  if (bucket === undefined || key === undefined) {
    const message = `${what}: expected s3://bucket/key, found another s3: URL`;
    throw new SnapshotError("ERR_ARGUMENT", message);
  }
  if ([bucket, ...key.split("/")].some((segment) => UNFIT_SEGMENT.test(segment))) {
    const expected = `expected a bucket and a key without segments that are empty, "." or ".."`;
    throw new SnapshotError("ERR_ARGUMENT", `${what}: ${expected}, found s3://${bucket}/${key}`);
  }
  return { kind: "s3", bucket, key };
}

/** The same URL as a text, which does not percent-encode its key: nothing if it has more than a bucket and a key. */
function textOf({ href, host, pathname }: URL): string {
  const isPlain = href === `s3://${host}${pathname}`;
  try {
    return isPlain ? `s3://${host}${decodeURIComponent(pathname)}` : "";
  } catch {
    return "";
  }
}
