import type { IncomingMessage } from "node:http";

import { SnapshotError } from "../error.js";
import { CleanCause } from "./clean-cause.js";
import { isPermanent, isRetryableStatus } from "./retry.js";

/** Why something that was asked of a server did not come. */
export class Failure extends Error {
  override readonly name = "Failure";

  constructor(
    message: string,
    /** Whether it may come if it is asked for again. */
    readonly isTransient: boolean,
    readonly details: {
      readonly cause?: unknown;
      readonly status?: number;
      /** What the server says of when to ask again. */
      readonly retryAfter?: string | undefined;
      readonly isChange?: boolean;
    } = {},
  ) {
    super(message);
  }

  /**
   * What callers are told.
   *
   * @param what what could not be done
   * @param times how often in a row
   */
  toError(what: string, times: number): SnapshotError {
    const { cause, status, isChange } = this.details;
    const code = isChange ? "ERR_SOURCE_CHANGED" : "ERR_SOURCE";
    const tries = times > 1 ? ` (${times} times in a row)` : "";
    return new SnapshotError(code, `${what}: ${this.message}${tries}`, { cause, status });
  }
}

/** Whatever went wrong with a connection. What is no matter of it is thrown. */
export function lost(error: unknown): Failure {
  const failure = failureOf(error);
  if (failure instanceof Failure) return failure;
  throw error;
}

/** Whatever went wrong with a connection, or what was thrown if it is no matter of it. */
export function failureOf(error: unknown): unknown {
  const isOfConnection = error instanceof Error && "code" in error;
  if (error instanceof SnapshotError || !isOfConnection) return error;
  const cause = new CleanCause(error);
  return new Failure(cause.what, !isPermanent(error), { cause });
}

/** What is wrong with an answer that brings nothing. */
export function refused({ statusCode = 0, headers }: IncomingMessage): Failure {
  const { "x-amz-bucket-region": region, "retry-after": retryAfter } = headers;
  // S3 says where a bucket is that was looked for elsewhere. Others might say what they were sent.
  const isRegion = statusCode !== 403 && /^[a-z]{2,4}-[a-z]+-\d{1,2}$/.test(String(region));
  const hint = isRegion ? `; the bucket is in ${region}` : "";
  const message = `the server answered ${statusCode}${meaning(statusCode)}${hint}`;
  const isTransient = isRetryableStatus(statusCode);
  return new Failure(message, isTransient, { status: statusCode, retryAfter });
}

function meaning(status: number): string {
  switch (status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      return ": a redirect that is not followed";
    case 401:
    case 403:
      return ": access denied";
    case 404:
    case 410:
      return ": no such object";
    case 429:
    case 503:
      return ": too many requests";
    default:
      return "";
  }
}
