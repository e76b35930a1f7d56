import { validateHeaderName, validateHeaderValue } from "node:http";

import { SnapshotError } from "../error.js";
import { checkInteger } from "./check-integer.js";
import { checkObject } from "./read-options.js";
import { checkS3Options, type S3Options } from "./s3-options.js";

/** How long is waited for a server, in milliseconds. */
export interface Timeouts {
  /** For a connection, TLS included: 5,000 unless it is said. */
  readonly connect?: number | undefined;
  /** For the beginning of an answer: 10,000 unless it is said. */
  readonly firstByte?: number | undefined;
  /** For the next 4 KiB of an answer, or what is left of it: 10,000 unless it is said. */
  readonly stall?: number | undefined;
}

/** What all work over a network can be told. Files take no notice of it. */
export interface TransferOptions {
  /**
   * How many connections there are at a time, 1 to 256. Unless it is said, as many as pay: more while
   * that is faster, fewer when the server asks for it.
   */
  readonly connections?: number | undefined;
  /** About how much is asked for or sent at a time, in bytes, 64 KiB to 1 GiB: 8 MiB unless it is said. */
  readonly partSize?: number | undefined;
  /** How long is waited for the server. */
  readonly timeouts?: Timeouts | undefined;
  /** How often in a row something is tried again that brings nothing, 0 to 100: 6 unless it is said. */
  readonly retries?: number | undefined;
  /** What requests to `http:` and `https:` carry besides, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Where `s3:` leads to, and as whom. */
  readonly s3?: S3Options | undefined;
}

/** What was said, or else what is good. Only plain values: threads share it. */
export interface Transfer {
  readonly connections: number | undefined;
  readonly partSize: number;
  readonly timeouts: Required<{ readonly [Name in keyof Timeouts]: number }>;
  readonly retries: number;
}

const [MIN_PART_SIZE, MAX_PART_SIZE, PART_SIZE] = [2 ** 16, 2 ** 30, 2 ** 23];
const MAX_CONNECTIONS = 256;
const [MAX_RETRIES, RETRIES] = [100, 6];
/** The longest time-out, in milliseconds: a day. */
const MAX_TIMEOUT = 86_400_000;
const TIMEOUTS = { connect: 5_000, firstByte: 10_000, stall: 10_000 };

/** Checks what a caller says of transfers. @throws {SnapshotError} `ERR_ARGUMENT` */
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

/** What is wrong with a header is not told with its value, which may be secret. */
function checkHeaders(headers: object): void {
  checkObject("headers", headers);
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === "string" && isHeader(name, value)) continue;
    throw new SnapshotError("ERR_ARGUMENT", "headers: expected names and values of headers");
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
