import type { IncomingMessage } from "node:http";

import { messageOf, SnapshotError, type SnapshotErrorCode } from "../error.js";
import {
  isOfTls,
  isPermanent,
  isRetryableStatus,
  type RetryableFailure,
  retryAfter,
} from "./retry.js";

interface FailureDetails {
  readonly cause?: unknown;
  /** The status of the response. */
  readonly status?: number | undefined;
  /** The value of the header `Retry-After`. */
  readonly retryAfter?: string | undefined;
  /** Whether the object changed while it was read. */
  readonly isChange?: boolean;
}

/** Statuses for an expired signature, among other reasons. S3 replies 400 if temporary credentials have expired. */
export const DENIED: ReadonlySet<unknown> = new Set([400, 401, 403]);

/** A request that failed. */
export class RequestFailure extends Error implements RetryableFailure {
  override readonly name = "RequestFailure";
  readonly retryAfter: number | undefined;

  constructor(
    message: string,
    readonly isTransient: boolean,
    readonly details: FailureDetails = {},
  ) {
    super(message);
    this.retryAfter = retryAfter(details.retryAfter, Date.now());
  }

  /** Whether the object was replaced or deleted. */
  get isGone(): boolean {
    const { isChange = false, status } = this.details;
    return isChange || status === 404 || status === 410;
  }

  /**
   * Returns the error for the caller.
   *
   * @param what the operation that failed, in words
   * @param failures number of consecutive failures
   * @param code the code, unless the object changed
   */
  toError(what: string, failures: number, code: SnapshotErrorCode = "ERR_SOURCE"): SnapshotError {
    const { cause, status, isChange } = this.details;
    const times = failures > 1 ? ` (${failures} times in a row)` : "";
    const message = `${what}: ${this.message}${times}`;
    return new SnapshotError(isChange ? "ERR_SOURCE_CHANGED" : code, message, { cause, status });
  }
}

/** Returns the failure of a connection. Rethrows an error that has another cause. */
export function requestFailureOf(error: unknown): RequestFailure {
  const failure = cleanFailure(error);
  if (failure instanceof RequestFailure) return failure;
  throw error;
}

/** Replaces an error of Node's client by a failure without secrets; returns any other error as it is. */
export function cleanFailure(error: unknown): unknown {
  if (error instanceof SnapshotError || error instanceof RequestFailure) return error;
  if (!(error instanceof Error && "code" in error)) return error;
  const cause = new CleanCause(error);
  return new RequestFailure(cause.description, !isPermanent(error), { cause });
}

/** The part of a response that says why it failed. */
export interface ResponseHead extends Pick<IncomingMessage, "headers"> {
  readonly statusCode?: number | undefined;
  /** The proxy that forwarded it, or answered in place of the server. */
  readonly proxyName?: string | undefined;
}

/** Returns the failure for a response that does not hold the object. */
export function responseFailure({
  statusCode = 0,
  headers,
  proxyName,
}: ResponseHead): RequestFailure {
  const { "x-amz-bucket-region": region, "retry-after": retryAfter } = headers;
  const hint = regionHint(statusCode, region);
  const via = proxyName === undefined ? "" : `, through proxy ${proxyName}`;
  const message = `${meaningOf(statusCode)} (HTTP ${statusCode})${hint}${via}`;
  const isTransient = isRetryableStatus(statusCode);
  return new RequestFailure(message, isTransient, { status: statusCode, retryAfter });
}

/** Why a conditional upload was refused. */
export const EXISTS = "destination already exists (HTTP 412); pass overwrite: true to replace it";

/** Returns a hint at the region of a bucket, if S3 reports one. Other text could be a secret that a server repeats. */
export function regionHint(status: number | undefined, region: unknown): string {
  const isRegion = status !== 403 && /^[a-z]{2,4}(-[a-z]{2,9}){1,2}-\d{1,2}$/.test(String(region));
  return isRegion ? `; the bucket is in region ${region}` : "";
}

/** Describes a status in words. */
function meaningOf(status: number): string {
  switch (status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      return "redirect not followed";
    case 401:
    case 403:
      return "access denied";
    case 404:
    case 410:
      return "no such object";
    case 407:
      return "valid proxy credentials are required";
    case 412:
      return "a condition of the request does not hold";
    case 429:
      return "too many requests";
    case 503:
      return "the server is unavailable";
    default:
      return status >= 500 ? "the server failed" : "the server refused the request";
  }
}

/** Returns the name of a URL in messages: without its user, query and fragment, which may be secret. */
export function safeName({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`;
}

/** Text that looks like part of a request, and may be secret. */
const SECRET =
  /authorization|(signature|credential|token|secret|password|key)["'\s]*[=:>]|[0-9a-f]{64}/i;

/** The form of an error's name or code. */
const NAME = /^[a-z][a-z0-9.]{0,63}$/i;

const MAX_LENGTH = 500;

/** Replaces a message that may hold secrets, if the error has no name to use instead. */
const HIDDEN = "a message that may hold secrets, and is not shown";

/** The cause of a failure without the request, which holds credentials. */
export class CleanCause extends Error {
  /** The code of the system, or of TLS. */
  readonly code: string | undefined;
  /** The status of the response. */
  readonly status: number | undefined;

  /**
   * @param error the thrown value, of which only the message, name and code are copied
   * @param secrets strings that must not appear in them
   */
  constructor(error: unknown, status?: number, secrets: readonly string[] = []) {
    const { name, code } = Object(error) as { readonly name?: unknown; readonly code?: unknown };
    const clean = cleanName(name, secrets) ?? "Error";
    super(cleanMessage(error, secrets) ?? (clean === "Error" ? HIDDEN : clean));
    this.name = clean;
    this.code = cleanName(code, secrets);
    this.status = status;
  }

  /** A short description for messages. */
  get description(): string {
    const tls = isOfTls(this.code ?? "") ? "TLS failed: " : "";
    const hasName = this.status !== undefined && this.name !== "Error";
    const name = hasName && this.name !== this.message ? `${this.name}: ` : "";
    return `${tls}${name}${this.message}`;
  }
}

/** Returns the message, or undefined if it may hold secrets: a server may repeat the request. */
function cleanMessage(error: unknown, secrets: readonly string[]): string | undefined {
  const message = plainMessage(error);
  if (SECRET.test(message) || holdsAny(message, secrets)) return undefined;
  return message.length > MAX_LENGTH ? `${message.slice(0, MAX_LENGTH)}…` : message;
}

/** Returns the message on one line. Node reports several failed addresses by an error without a message. */
function plainMessage(error: unknown): string {
  const { errors } = Object(error) as { readonly errors?: readonly unknown[] };
  const first = messageOf(error) === "" ? errors?.[0] : undefined;
  // The AWS SDK copies the message from a response, where it may be of another type, and adds a hint for its own users.
  const message = String(messageOf(first ?? error)).replace(/\s+/g, " ");
  return message.replace(/ Deserialization error: to see the raw response,.*/, "");
}

function cleanName(name: unknown, secrets: readonly string[]): string | undefined {
  const found = typeof name === "string" ? name.replaceAll("_", "") : "";
  return NAME.test(found) && !holdsAny(String(name), secrets) ? String(name) : undefined;
}

function holdsAny(text: string, secrets: readonly string[]): boolean {
  return secrets.some((secret) => secret !== "" && text.includes(secret));
}
