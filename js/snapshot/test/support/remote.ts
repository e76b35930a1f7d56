/** Origin servers for tests of transfers. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";

import type { Fault, FaultRequest, Faults } from "../../../../tests/origin/fault.mjs";
import { type Origin, type OriginOptions, startOrigin } from "../../../../tests/origin/origin.mjs";
import { leftovers } from "../../../../tests/support/snapshots/folder.js";

/** Short timeouts, for servers that do not respond. */
export const SOON = { connect: 300, firstByte: 300, stall: 300 };

/** Starts an origin that is closed at the end of the test. */
export async function originOf(
  files: Readonly<Record<string, Uint8Array | string>>,
  options: Omit<OriginOptions, "files"> = {},
): Promise<Origin> {
  const origin = await startOrigin({ ...options, files });
  onTestFinished(() => origin.close());
  return origin;
}

/** Whether a request is for the end of a file, which is requested first. */
export const isTail = ({ headers }: Pick<FaultRequest, "headers">) =>
  /^bytes=-\d+$/.test(headers.range ?? "");

/** Whether a request is for the beginning of a file, which is prefetched together with the end. */
export const isHead = ({ headers }: Pick<FaultRequest, "headers">) =>
  /^bytes=0-/.test(headers.range ?? "");

/** Whether a request is for another range. */
export const isPart = (request: Pick<FaultRequest, "headers">) =>
  request.headers.range !== undefined && !isTail(request) && !isHead(request);

/** Returns faults of the first `times` responses to matching requests. */
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

/** Checks that all connections are closed. */
export async function expectNoConnections(origin: Origin): Promise<void> {
  // The origin notices a moment later than this process.
  for (let wait = 0; wait < 200 && origin.connectionCount > 0; wait += 1) await sleep(5);
  expect(origin.connectionCount, "open connections").toBe(0);
}

/** Checks that an operation left no temporary file and no connection. */
export async function expectNothingLeft(folder: string, origin?: Origin): Promise<void> {
  expect(leftovers(folder)).toEqual([]);
  if (origin !== undefined) await expectNoConnections(origin);
}
