import { SnapshotError } from "../error.js";
import { DENIED, RequestFailure, safeName } from "../http/failure.js";
import { fetchDate, fetchEtag } from "../http/get.js";
import { requestTo, type ServerRequest } from "../http/request.js";
import { type TransferOptions, transferOf } from "../http/transfer.js";
import { nameOf } from "../services/object-service.js";
import { serviceOf } from "../services/open-service.js";
import { clockOf, signingTime } from "../services/server-clock.js";
import type { RemoteLocation } from "./location.js";

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
  options: ServerOptions,
): Promise<NamedRequest> {
  if (location.kind === "http") {
    return { request: requestTo(location.url, options.headers), name: safeName(location.url) };
  }
  const service = await serviceOf(location, options);
  try {
    const request = await service.request(location.key, options.signal);
    return { request, name: nameOf(location) };
  } finally {
    service.close();
  }
}

/**
 * Calls `use` with the request for the object at a location. If the service refuses the signature, requests its time,
 * and calls `use` again with a new signature if the clock of this machine is wrong.
 *
 * @throws {SnapshotError} `ERR_ARGUMENT`, and what `use` throws
 */
export async function withRequestAt<T>(
  location: RemoteLocation,
  options: ServerOptions,
  use: (request: NamedRequest) => Promise<T>,
): Promise<T> {
  const first = await requestAt(location, options);
  try {
    return await use(first);
  } catch (error) {
    if (location.kind !== "object" || !isDenied(error)) throw error;
    const { origin } = first.request.url;
    clockOf(origin).observe(await fetchDate(first.request, transferOf(options), options.signal));
    if (signingTime(origin) === undefined) throw error;
    return use(await requestAt(location, options));
  }
}

/** Returns whether a server refused a request, among other reasons because of its signature. */
function isDenied(error: unknown): boolean {
  if (error instanceof RequestFailure) return DENIED.has(error.details.status);
  return error instanceof SnapshotError && DENIED.has(error.status);
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
  return withRequestAt(location, options, ({ request, name }) =>
    fetchEtag(request, name, transferOf(options), options.signal),
  );
}
