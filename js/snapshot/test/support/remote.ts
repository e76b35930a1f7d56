/** Origins for tests, and checks that a transfer leaves nothing. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";

import type { Fault, FaultRequest, Faults } from "../../../../tests/origin/fault.mjs";
import { type Origin, type OriginOptions, startOrigin } from "../../../../tests/origin/origin.mjs";
import { leftovers } from "../../../../tests/support/snapshots/folder.js";

/** Short timeouts, for servers that do not respond. */
export const SOON = { connect: 300, firstByte: 300, stall: 300 };

/** Starts an origin that closes with the test. */
export async function originOf(
  files: Readonly<Record<string, Uint8Array | string>>,
  options: Omit<OriginOptions, "files"> = {},
): Promise<Origin> {
  const origin = await startOrigin({ ...options, files });
  onTestFinished(() => origin.close());
  return origin;
}

/** Returns whether a request is for the tail, which is requested first. */
export const isTail = ({ headers }: Pick<FaultRequest, "headers">) =>
  /^bytes=-\d+$/.test(headers.range ?? "");

/** Returns whether a request is for the prefix, which is requested together with the tail. */
export const isHead = ({ headers }: Pick<FaultRequest, "headers">) =>
  /^bytes=0-/.test(headers.range ?? "");

/** Returns whether a request is for another range, after the tail. */
export const isPart = (request: Pick<FaultRequest, "headers">) =>
  request.headers.range !== undefined && !isTail(request) && !isHead(request);

/** Returns a fault of the responses to some requests, or of the first `times` of them. */
export function faultsOf(
  which: (request: FaultRequest) => boolean,
  fault: Fault | ((request: FaultRequest) => Fault),
  times = Infinity,
): Faults {
  let count = 0;
  return (request) => {
    if (!which(request) || count >= times) return undefined;
    count += 1;
    return typeof fault === "function" ? fault(request) : fault;
  };
}

/** Throws unless all connections are closed within half a minute. The server leaves idle ones open for a minute. */
export async function expectNoConnections(origin: Origin): Promise<void> {
  // A busy machine notices a closed connection later.
  const end = performance.now() + 30_000;
  while (origin.connectionCount > 0 && performance.now() < end) await sleep(5);
  expect(origin.connectionCount, "open connections").toBe(0);
}

/** Throws if work left temporary files or connections. */
export async function expectNothingLeft(folder: string, origin?: Origin): Promise<void> {
  expect(leftovers(folder)).toEqual([]);
  if (origin !== undefined) await expectNoConnections(origin);
}
