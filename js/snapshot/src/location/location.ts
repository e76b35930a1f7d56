/** What a path or URL means: parsing, IDs, and the references of deltas to their base objects. */
import { dirname, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";

import { messageOf, SnapshotError } from "../error.js";
import { MAX_REFERENCE_LENGTH } from "../format/limits.js";
import { folderOf, referencedUrl } from "../format/manifest.js";
import { safeName } from "../http/failure.js";
import type { TransferOptions } from "../http/transfer.js";
import { checkDifferentPath } from "../local/open-file.js";
import { nameOf, type ObjectLocation, type ServiceKind } from "../services/object-service.js";

/** The location of a snapshot. */
export type Location =
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "http"; readonly url: URL }
  | ({ readonly kind: "object" } & ObjectLocation);

/** A location on a server. */
export type RemoteLocation = Exclude<Location, { readonly kind: "file" }>;

/** Matches text that begins like a URL. Without a slash, `file:` begins a name. */
const SCHEME = /^(?:[a-z][a-z0-9+.-]+:\/\/|(?:https?|s3|gs|az|azure):|file:\/)/i;

/** The services, by the protocol of their URLs. */
const SERVICES: Readonly<Record<string, ServiceKind>> = {
  "s3:": "s3",
  "gs:": "gs",
  "az:": "az",
  "azure:": "az",
};

/** The form of the URLs of each service. */
const FORMS: Readonly<Record<ServiceKind, string>> = {
  s3: "s3://bucket/key",
  gs: "gs://bucket/key",
  az: "az://account/container/key",
};

/**
 * Parses the location of a source or destination: a path, or a URL: `file:`, `http:`, `https:`, `s3://bucket/key`,
 * `gs://bucket/key`, or `az://account/container/key`, also written `azure:`.
 *
 * @param what the name of the argument, for messages
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
  }
  const service = SERVICES[url.protocol];
  if (service !== undefined) {
    return objectOf(what, service, typeof location === "string" ? location : textOf(url));
  }
  // A URL may contain credentials: the message names its scheme only.
  const expected = "expected a path, or a URL of file:, http:, https:, s3:, gs: or az:";
  throw new SnapshotError("ERR_ARGUMENT", `${what}: ${expected}, found ${url.protocol}`);
}

/**
 * Parses an argument that must be local: a path or a `file:` URL.
 *
 * @param what the name of the argument, for messages
 * @throws {SnapshotError} `ERR_ARGUMENT`
 */
export function localPath(what: string, location: string | URL): string {
  const url = urlOf(location);
  if (url === undefined) return checkedPath(what, location);
  if (url.protocol === "file:") return pathOf(what, url);
  const message = `${what}: expected a path or a file: URL, found ${url.protocol}`;
  throw new SnapshotError("ERR_ARGUMENT", message);
}

/** Returns the path or URL of a location, without secrets. */
export function safeLocation(location: Location): string {
  switch (location.kind) {
    case "file":
      return location.path;
    case "http":
      return safeName(location.url);
    case "object":
      return nameOf(location);
  }
}

/** Returns a copy of the URL that a location is, or undefined if it is not one. */
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
  // An invalid URL may contain credentials, too.
  const found = SCHEME.test(path) ? "an invalid URL" : JSON.stringify(path);
  if (path !== "" && !path.includes("\0") && !SCHEME.test(path)) return path;
  throw new SnapshotError("ERR_ARGUMENT", `${what}: expected a path, found ${found}`);
}

/**
 * Matches segments that do not survive a request: URL parsers remove `.` and `..`, some servers remove empty
 * segments, and UTF-8 cannot encode lone surrogates.
 */
const UNFIT_SEGMENT = /^\.{0,2}$|\p{Surrogate}/u;

/** Parses the URL of an object. The key is taken literally, without percent-decoding. */
function objectOf(what: string, service: ServiceKind, text: string): Location {
  const form = FORMS[service];
  const [, path = ""] = /^[a-z0-9]+:\/\/([^?#@:/]+\/.+)$/is.exec(text) ?? [];
  const [first = "", ...rest] = path.split("/");
  const bucket = service === "az" ? `${first}/${rest.shift() ?? ""}` : first;
  const key = rest.join("/");
  if (bucket === "" || key === "" || /[?#@:]/.test(bucket)) {
    throw new SnapshotError(
      "ERR_ARGUMENT",
      `${what}: expected ${form}, found another form of ${service}: URL`,
    );
  }
  if (`${bucket}/${key}`.split("/").some((segment) => UNFIT_SEGMENT.test(segment))) {
    const expected = `expected a bucket and a key without empty segments, "." or ".."`;
    const found = nameOf({ service, bucket, key });
    throw new SnapshotError("ERR_ARGUMENT", `${what}: ${expected}, found ${found}`);
  }
  return { kind: "object", service, bucket, key };
}

/** Returns the URL of an object as text with its key decoded, or "" if it has more than a host and a path. */
function textOf({ href, protocol, host, pathname }: URL): string {
  const isPlain = href === `${protocol}//${host}${pathname}`;
  try {
    return isPlain ? `${protocol}//${host}${decodeURIComponent(pathname)}` : "";
  } catch {
    return "";
  }
}

/** Returns a text that identifies a location, whatever the credentials and signatures. */
export function sourceIdOf(location: RemoteLocation, options: TransferOptions): string {
  if (location.kind === "object") {
    const { service, bucket, key } = location;
    const { endpoint } = { s3: options.s3, gs: options.gcs, az: options.azure }[service] ?? {};
    const region = service === "s3" ? (options.s3?.region ?? "") : "";
    return JSON.stringify([service, String(endpoint ?? ""), region, bucket, key]);
  }
  const url = new URL(location.url);
  [url.username, url.password, url.hash] = ["", "", ""];
  for (const name of [...url.searchParams.keys()]) {
    if (/^x-amz-/i.test(name)) url.searchParams.delete(name);
  }
  return url.href;
}

/**
 * Throws if a destination is a file or an object that is read.
 *
 * @param needed the locations of a snapshot and of its base objects
 * @throws {SnapshotError} `ERR_ARGUMENT`
 */
export async function checkDestination(
  destination: Location,
  needed: readonly (Location | undefined)[],
  options: TransferOptions,
): Promise<void> {
  for (const location of needed) {
    if (location === undefined) continue;
    if (destination.kind === "file" && location.kind === "file") {
      await checkDifferentPath("destination", destination.path, location.path);
    } else if (destination.kind !== "file" && location.kind !== "file") {
      if (sourceIdOf(destination, options) !== sourceIdOf(location, options)) continue;
      const message = "destination: expected a URL other than those of the objects that are read";
      throw new SnapshotError("ERR_ARGUMENT", message);
    }
  }
}

/** Matches what no reference may contain. */
const INVALID = /[\p{Control}\\:\p{Surrogate}]|(^|\/)\.{0,2}(\/|$)/u;

/** Returns the location of a base object. @param reference a valid one, as the manifest of a delta has */
export function referencedFrom(delta: Location, reference: string): Location {
  switch (delta.kind) {
    case "file":
      return { kind: "file", path: join(dirname(delta.path), ...reference.split("/")) };
    case "http":
      return { kind: "http", url: referencedUrl(delta.url, reference) };
    case "object":
      return { ...delta, key: folderOf(delta.key) + reference };
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
  if (delta.kind === "object" && object.kind === "object") {
    const isNear = delta.service === object.service && delta.bucket === object.bucket;
    return isNear ? after(folderOf(delta.key), object.key) : undefined;
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
