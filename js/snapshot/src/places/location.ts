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
      return objectOf(what, location, url);
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

/** The URL that a location is, or undefined if it can only be a path. */
function urlOf(location: unknown): URL | undefined {
  if (location instanceof URL) return location;
  const looksLikeOne = typeof location === "string" && SCHEME.test(location);
  return looksLikeOne && URL.canParse(location) ? new URL(location) : undefined;
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

/** The object that an `s3:` URL names. A text names its key as it is; a URL percent-encodes it. */
function objectOf(what: string, location: string | URL, { hostname, pathname }: URL): Location {
  const text = typeof location === "string" ? location : `s3://${hostname}${decoded(pathname)}`;
  const [, bucket, key] = /^s3:\/\/([^/?#@:]+)\/(.+)$/is.exec(text) ?? [];
  if (bucket !== undefined && key !== undefined) return { kind: "s3", bucket, key };
  throw new SnapshotError(
    "ERR_ARGUMENT",
    `${what}: expected s3://bucket/key, found another s3: URL`,
  );
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return "";
  }
}
