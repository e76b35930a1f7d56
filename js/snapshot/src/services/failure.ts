/** Failures of requests to object services: what they say, without secrets, and whether to try again. */
import { SnapshotError, type SnapshotErrorCode } from "../error.js";
import { CleanCause, EXISTS, RequestFailure, type ResponseHead } from "../http/failure.js";
import { get, wholeBody } from "../http/get.js";
import { contentLength } from "../http/object-version.js";
import type { ServerRequest } from "../http/request.js";
import {
  isGatewayStatus,
  isLost,
  isPermanent,
  isRetryableStatus,
  type RetryableFailure,
  withRetries,
} from "../http/retry.js";
import type { Transfer } from "../http/transfer.js";
import {
  type Call,
  nameOf,
  type ObjectLocation,
  type StoredObject,
  tooLong,
  type UploadPlan,
} from "./object-service.js";

/** Times of objects have whole seconds: they may have been written up to a second later. */
export const SECOND = 1_000;

/** What the client of a service says about a failed request. */
export interface FailureParts {
  /** The status of the response, if there was one. */
  readonly status: number | undefined;
  /** Whether the response explains the failure. Gateways may send a page, and the response to `HEAD` has no body. */
  readonly hasCode: boolean;
  /** Whether a retry may succeed whatever the status. Default: `false`. */
  readonly isTransient?: boolean;
  /** How long the service asks to wait, in milliseconds. */
  readonly retryAfter?: number | undefined;
  /** The proxy that forwarded the response, or answered in place of the service. */
  readonly proxyName?: string | undefined;
  /** What to do about it, for the end of the message. Default: nothing. */
  readonly hint?: string;
  /** Strings that must not appear in messages. */
  readonly secrets?: readonly string[];
}

/** A failed request to an object service, without secrets. */
export class ServiceFailure implements RetryableFailure {
  readonly cause: CleanCause;
  /** What went wrong, if it was the connection to a proxy. */
  readonly proxyMessage: string | undefined;
  readonly status: number | undefined;
  /** Whether the service succeeded, and its response cannot be read. */
  readonly isUnreadable: boolean = false;
  readonly isTransient: boolean;
  readonly retryAfter: number | undefined;
  readonly #parts: FailureParts;

  constructor(error: unknown, parts: FailureParts) {
    this.#parts = parts;
    if (error instanceof RequestFailure) {
      // The connection to a proxy failed: clients pass on what their agent throws.
      const { cause, status } = error.details;
      this.cause = cause instanceof CleanCause ? cause : new CleanCause(error);
      this.proxyMessage = error.message;
      this.status = status;
      this.retryAfter = error.retryAfter;
      this.isTransient = error.isTransient;
      return;
    }
    const { status, retryAfter, isTransient = false, secrets } = parts;
    // A client may report a response that it cannot parse, because it was cut off.
    this.isUnreadable = status !== undefined && status < 300;
    this.status = this.isUnreadable ? undefined : status;
    this.cause = new CleanCause(error, this.status, secrets);
    this.retryAfter = retryAfter;
    this.isTransient =
      isTransient ||
      (this.status === undefined
        ? this.isUnreadable || (!isPermanent(error) && isLostRequest(error))
        : isRetryableStatus(this.status));
  }

  /** Whether the service has not answered, and may still carry out the request. */
  get isUnanswered(): boolean {
    return this.status === undefined || isGatewayStatus(this.status);
  }

  /** Returns the error for the caller. */
  toError(code: SnapshotErrorCode, location: ObjectLocation): SnapshotError {
    const { cause, status } = this;
    const message = `${nameOf(location)}: ${this.#describe(location)}`;
    return new SnapshotError(code, message, { cause, status });
  }

  #describe({ bucket }: ObjectLocation): string {
    const { cause, status, proxyMessage } = this;
    const { proxyName, hasCode, hint = "" } = this.#parts;
    const { name, description } = cause;
    if (proxyMessage !== undefined) return proxyMessage;
    if (isMissingBucket(name)) return `bucket "${bucket}" does not exist (HTTP ${status})`;
    if (this.isUnreadable) return `the response of the service is damaged: ${description}`;
    if (status === undefined) return `no response from the service: ${description}`;
    const via = proxyName === undefined ? "" : `, through proxy ${proxyName}`;
    const reason = hasCode ? `, ${description}` : "";
    return `${meaningOf(status)} (HTTP ${status}${reason})${hint}${via}`;
  }
}

/** How many times to send a conditional request, or an upload, whose condition holds. */
export const MAX_TRIES = 3;

/** The statuses of an upload that collided with another request, which may also have ended it. */
export const COLLIDED = [404, 409];

/** Returns whether an error has one of some statuses, and the bucket exists. */
export function hasStatus(error: unknown, statuses: readonly number[]): boolean {
  const isOne = error instanceof SnapshotError && statuses.includes(error.status ?? 0);
  return isOne && !isMissingBucket((error.cause as Error | undefined)?.name);
}

/** Returns whether an error name of a service says that the bucket does not exist. */
function isMissingBucket(name: string | undefined): boolean {
  return name === "NoSuchBucket" || name === "ContainerNotFound";
}

/** Returns whether a request may have been lost on the way. The clients name their time limits differently. */
function isLostRequest(error: unknown): boolean {
  const { name, code } = Object(error) as { readonly name?: unknown; readonly code?: unknown };
  return isLost(error) || name === "TimeoutError" || code === "REQUEST_SEND_ERROR";
}

function meaningOf(status: number): string {
  if (status === 401 || status === 403) return "access denied";
  if (status === 412) return "a condition of the request does not hold";
  if (status === 409) return "other requests for the object are under way";
  return "the service refused the request";
}

/** What the requests of a call have in common. */
export interface Calling {
  readonly retries: number;
  readonly location: ObjectLocation;
  /** Describes what the client of the service throws. */
  readonly failureOf: (error: unknown) => ServiceFailure;
}

/**
 * Sends a request, and sends it again after transient failures.
 *
 * @param attempt sends it once
 * @throws {SnapshotError} with the code of `call`, the reason of its signal, and each {@link SnapshotError} of `attempt`
 */
export function sendCall<T>(
  { retries, location, failureOf }: Calling,
  { signal, code = "ERR_STORE", repeats = true }: Call,
  attempt: () => Promise<T>,
): Promise<T> {
  return withRetries(
    {
      retries,
      signal,
      failureOf: (error) => {
        if (error instanceof SnapshotError) throw error;
        const failure = failureOf(error);
        if (!repeats && failure.isUnanswered) throw failure.toError(code, location);
        return failure;
      },
      errorOf: (failure) => failure.toError(code, location),
    },
    attempt,
  );
}

/**
 * Reads a small object with one `GET`.
 *
 * @param name of the object in messages
 * @param tagOf returns its tag from the header fields of the response
 * @throws {RequestFailure}
 * @throws {SnapshotError} `ERR_STORE` if it is longer than `maxLength` bytes
 */
export function readObject(
  request: ServerRequest,
  name: string,
  maxLength: number,
  transfer: Transfer,
  signal: AbortSignal | undefined,
  tagOf: (headers: ResponseHead["headers"]) => string,
): Promise<StoredObject> {
  return get(request, {}, transfer, signal, async (open) => {
    const bytes = await wholeBody(open, maxLength);
    const { headers } = open.response;
    if (bytes === undefined) throw tooLong(name, maxLength, contentLength(headers));
    const modified = Date.parse(headers["last-modified"] ?? "") + SECOND;
    return {
      bytes,
      tag: tagOf(headers),
      modified: Number.isNaN(modified) ? Number.POSITIVE_INFINITY : modified,
    };
  });
}

/** Returns the error of an upload that failed. */
export function uploadError(
  failure: ServiceFailure,
  location: ObjectLocation,
  { overwrite }: UploadPlan,
): SnapshotError {
  if (failure.status !== 412 || overwrite) return failure.toError("ERR_TARGET", location);
  return existsError(location);
}

/** Returns the error of an upload to an object that exists. */
export function existsError(location: ObjectLocation): SnapshotError {
  return new SnapshotError("ERR_TARGET", `${nameOf(location)}: ${EXISTS}`, { status: 412 });
}

/** Returns an error with what the service calls it as its name, and the first line of its message. */
export function named(message: string, name: string): Error {
  return Object.assign(new Error(message.split("\n")[0]), { name });
}
