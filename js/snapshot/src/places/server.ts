import { fetchEtag } from "../http/read/fetch-etag.js";
import { safeName } from "../http/safe-url.js";
import { requestTo, type ServerRequest } from "../http/server-request.js";
import { type TransferOptions, transferOf } from "../options/transfer-options.js";
import { presignedGet } from "../s3/presign.js";
import type { Location } from "./location.js";

/** A place on a server. */
export type RemoteLocation = Exclude<Location, { readonly kind: "file" }>;

/** How a server is asked, and for how long. */
type ServerOptions = TransferOptions & { readonly signal?: AbortSignal | undefined };

/** How an object is asked for. */
export interface Asked {
  readonly request: ServerRequest;
  /** What it is called in messages. */
  readonly name: string;
}

/** How what is at a place is asked for. @throws {SnapshotError} `ERR_ARGUMENT` */
export async function askedAt(
  location: RemoteLocation,
  { headers, s3, signal }: ServerOptions,
): Promise<Asked> {
  if (location.kind === "http") {
    return { request: requestTo(location.url, headers), name: safeName(location.url) };
  }
  const { url, name } = await presignedGet(location, s3, signal);
  return { request: requestTo(url), name };
}

/** The ETag of what is at a place, if it stands for every byte. @throws {SnapshotError} `ERR_SOURCE`, `ERR_ARGUMENT` */
export async function etagAt(
  location: RemoteLocation,
  options: ServerOptions,
): Promise<string | undefined> {
  const { request, name } = await askedAt(location, options);
  return fetchEtag(request, name, transferOf(options), options.signal);
}

/** What stays the same of a place, however it is asked for: who asks, and until when they may, is left out. */
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
