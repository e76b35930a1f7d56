import { validateHeaderName, validateHeaderValue } from "node:http";

import { SnapshotError } from "../error.js";
import { checkInteger } from "./check-integer.js";
import { checkObject } from "./read-options.js";
import { checkS3Options, type S3Options } from "./s3-options.js";

/** Time limits for the steps of a request, in milliseconds, 1 to 86,400,000. */
export interface Timeouts {
  /** The time for a connection, TLS included. Default: 5,000. */
  readonly connect?: number | undefined;
  /** The time for the first byte of the response. Default: 10,000. */
  readonly firstByte?: number | undefined;
  /** The time for the next 4 KiB of the body, or the rest of it. Default: 10,000. */
  readonly stall?: number | undefined;
}

/** Options for transfers over a network. Local files ignore them. */
export interface TransferOptions {
  /**
   * The number of concurrent connections, 1 to 256. By default it adapts to the throughput, and is reduced when the
   * server asks for less; uploads to S3 use 4.
   */
  readonly connections?: number | undefined;
  /** The approximate size of a range or part, in bytes, 64 KiB to 1 GiB. Default: 8 MiB. */
  readonly partSize?: number | undefined;
  /** Time limits for the steps of a request, in milliseconds. */
  readonly timeouts?: Timeouts | undefined;
  /** The number of consecutive retries without progress before giving up, 0 to 100. Default: 6. */
  readonly retries?: number | undefined;
  /** Headers for requests to `http:` and `https:`, such as `authorization`. A redirect to another origin drops them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The service and the credentials for `s3:`. Default: those that the AWS SDK finds. */
  readonly s3?: S3Options | undefined;
}

/** Checked options with their defaults. Plain values, which threads can share. */
export interface Transfer {
  readonly connections: number | undefined;
  readonly partSize: number;
  readonly timeouts: Required<{ readonly [Name in keyof Timeouts]: number }>;
  readonly retries: number;
  /** The maximum rate at which all frames are requested, in bytes per second. Default: unlimited. */
  readonly bytesPerSecond?: number | undefined;
}

const [MIN_PART_SIZE, MAX_PART_SIZE, PART_SIZE] = [2 ** 16, 2 ** 30, 2 ** 23];
const MAX_CONNECTIONS = 256;
const [MAX_RETRIES, RETRIES] = [100, 6];
/** The longest timeout, in milliseconds: a day. */
const MAX_TIMEOUT = 86_400_000;
const TIMEOUTS = { connect: 5_000, firstByte: 10_000, stall: 10_000 };

/** Checks options, and applies defaults. @throws {SnapshotError} `ERR_ARGUMENT` */
export function transferOf(options: TransferOptions): Transfer {
  const { connections, partSize = PART_SIZE, retries = RETRIES, timeouts = {} } = options;
  if (connections !== undefined) checkInteger("connections", connections, 1, MAX_CONNECTIONS);
  checkInteger("partSize", partSize, MIN_PART_SIZE, MAX_PART_SIZE);
  checkInteger("retries", retries, 0, MAX_RETRIES);
  checkObject("timeouts", timeouts);
  const {
    connect = TIMEOUTS.connect,
    firstByte = TIMEOUTS.firstByte,
    stall = TIMEOUTS.stall,
  } = timeouts;
  checkInteger("timeouts.connect", connect, 1, MAX_TIMEOUT);
  checkInteger("timeouts.firstByte", firstByte, 1, MAX_TIMEOUT);
  checkInteger("timeouts.stall", stall, 1, MAX_TIMEOUT);
  if (options.headers !== undefined) checkHeaders(options.headers);
  checkS3Options(options.s3);
  return { connections, partSize, retries, timeouts: { connect, firstByte, stall } };
}

/** How many times as long as another response one to an upload may take, unless there are fewer attempts. */
const UPLOAD_PATIENCE = 6;

/**
 * Returns the options for uploads. A gateway may pass an upload on only when it has all of it, and is silent meanwhile. A
 * retry would then compete with the first attempt.
 */
export function forUploads(transfer: Transfer): Transfer {
  const { retries, timeouts } = transfer;
  const times = Math.min(retries + 1, UPLOAD_PATIENCE);
  const [firstByte, stall] = [timeouts.firstByte * times, timeouts.stall * times];
  return { ...transfer, timeouts: { ...timeouts, firstByte, stall } };
}

/** The message does not repeat a wrong header, which may be secret. */
function checkHeaders(headers: object): void {
  checkObject("headers", headers);
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === "string" && isHeader(name, value)) continue;
    throw new SnapshotError(
      "ERR_ARGUMENT",
      "headers: expected valid names and values of HTTP headers",
    );
  }
}

function isHeader(name: string, value: string): boolean {
  try {
    validateHeaderName(name);
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false;
  }
}
