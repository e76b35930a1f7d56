import { fetchEtag } from "../http/read/fetch-etag.js";
import { safeName } from "../http/safe-url.js";
import { requestTo, type ServerRequest } from "../http/server-request.js";
import { type TransferOptions, transferOf } from "../options/transfer-options.js";
import { presignedGet } from "../s3/presign.js";
import type { Location } from "./location.js";

/** A location on a server. */
export type RemoteLocation = Exclude<Location, { readonly kind: "file" }>;

/** The options of requests. */
type ServerOptions = TransferOptions & { readonly signal?: AbortSignal | undefined };

/** A request for an object. */
export interface NamedRequest {
  readonly request: ServerRequest;
  /** The name of the object in messages. */
  readonly name: string;
}

/** Returns the request for the object at a location. @throws {SnapshotError} `ERR_ARGUMENT` */
export async function requestAt(
  location: RemoteLocation,
  { headers, s3, signal }: ServerOptions,
): Promise<NamedRequest> {
  if (location.kind === "http") {
    return { request: requestTo(location.url, headers), name: safeName(location.url) };
  }
  const { url, name } = await presignedGet(location, s3, signal);
  return { request: requestTo(url), name };
}

/**
 * Requests the strong ETag of the object at a location. Returns undefined if it has none.
 *
 * @throws {SnapshotError} `ERR_SOURCE`, `ERR_ARGUMENT`
 */
export async function etagAt(
  location: RemoteLocation,
  options: ServerOptions,
): Promise<string | undefined> {
  const { request, name } = await requestAt(location, options);
  return fetchEtag(request, name, transferOf(options), options.signal);
}

/** Returns a text that identifies a location, whatever the credentials and signatures. */
export function identityOf(location: RemoteLocation, { s3 }: TransferOptions): string {
  if (location.kind === "s3") {
    const { bucket, key } = location;
    return JSON.stringify(["s3", String(s3?.endpoint ?? ""), s3?.region ?? "", bucket, key]);
  }
  const url = new URL(location.url);
  [url.username, url.password, url.hash] = ["", "", ""];
  for (const name of [...url.searchParams.keys()]) {
    if (/^x-amz-/i.test(name)) url.searchParams.delete(name);
  }
  return url.href;
}
