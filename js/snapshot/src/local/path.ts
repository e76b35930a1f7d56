import { fileURLToPath } from "node:url";

import { messageOf, SnapshotError } from "../error.js";

/** What begins like a URL, and not like a path. */
const SCHEME = /^[a-z][a-z0-9+.-]+:\/\//i;

/**
 * The path that a source or destination names: a path, or a `file:` URL.
 *
 * @throws {SnapshotError} `ERR_ARGUMENT`
 */
export function localPath(what: string, location: string | URL): string {
  const isPath = typeof location === "string" && !SCHEME.test(location);
  const path = isPath ? location : pathOf(what, location);
  if (path !== "" && !path.includes("\0")) return path;
  throw new SnapshotError(
    "ERR_ARGUMENT",
    `${what}: expected a path, found ${JSON.stringify(path)}`,
  );
}

function pathOf(what: string, location: unknown): string {
  const url = location instanceof URL ? location : urlOf(location);
  if (url?.protocol !== "file:") {
    // A URL may carry credentials: only its scheme is told.
    const found = url === undefined ? typeof location : url.protocol;
    throw new SnapshotError(
      "ERR_ARGUMENT",
      `${what}: expected a path or a file: URL, found ${found}`,
    );
  }
  try {
    return fileURLToPath(url);
  } catch (cause) {
    throw new SnapshotError("ERR_ARGUMENT", `${what}: ${messageOf(cause)}`, { cause });
  }
}

function urlOf(location: unknown): URL | undefined {
  return typeof location === "string" && URL.canParse(location) ? new URL(location) : undefined;
}
