/** References of deltas to their base objects: paths relative to the folder of the delta. */
import { dirname, join, relative, resolve, sep } from "node:path";

import { MAX_REFERENCE_LENGTH } from "../format/limits.js";
import type { Location } from "./location.js";
import { folderOf, referencedUrl } from "./referenced-url.js";

/** Matches what no reference may contain. */
const INVALID = /[\p{Control}\\:\p{Surrogate}]|(^|\/)\.{0,2}(\/|$)/u;

/** Returns the location of a base object. @param reference a valid one, as the manifest of a delta has */
export function referencedFrom(delta: Location, reference: string): Location {
  switch (delta.kind) {
    case "file":
      return { kind: "file", path: join(dirname(delta.path), ...reference.split("/")) };
    case "http":
      return { kind: "http", url: referencedUrl(delta.url, reference) };
    case "s3":
      return { kind: "s3", bucket: delta.bucket, key: folderOf(delta.key) + reference };
  }
}

/** Returns the reference of a delta to an object, or `""` if that is not in the same folder or below it. */
export function referenceTo(delta: Location, object: Location): string {
  const path = pathFrom(delta, object);
  return path === undefined || INVALID.test(path) || Buffer.byteLength(path) > MAX_REFERENCE_LENGTH
    ? ""
    : path;
}

function pathFrom(delta: Location, object: Location): string | undefined {
  if (delta.kind === "file" && object.kind === "file") {
    return relative(dirname(resolve(delta.path)), resolve(object.path))
      .split(sep)
      .join("/");
  }
  if (delta.kind === "http" && object.kind === "http") {
    if (delta.url.origin !== object.url.origin) return undefined;
    return decoded(after(folderOf(delta.url.pathname), object.url.pathname));
  }
  if (delta.kind === "s3" && object.kind === "s3") {
    return delta.bucket === object.bucket ? after(folderOf(delta.key), object.key) : undefined;
  }
  return undefined;
}

/** Returns what follows a prefix. */
function after(prefix: string, text: string): string | undefined {
  return text.startsWith(prefix) ? text.slice(prefix.length) : undefined;
}

function decoded(path: string | undefined): string | undefined {
  try {
    // An encoded slash would become a separator.
    return path === undefined || /%2f/i.test(path) ? undefined : decodeURIComponent(path);
  } catch {
    return undefined;
  }
}
