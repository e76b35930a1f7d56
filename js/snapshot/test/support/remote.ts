/** Origins that serve snapshots to tests, and what is left of a transfer when it is over. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished } from "vitest";

import type { Fault, FaultRequest, Faults } from "../../../../tests/origin/fault.mjs";
import { type Origin, type OriginOptions, startOrigin } from "../../../../tests/origin/origin.mjs";
import { leftovers } from "../../../../tests/support/snapshots/folder.js";

/** Time-outs that are over soon, for servers that say nothing. */
export const SOON = { connect: 300, firstByte: 300, stall: 300 };

/** Starts an origin that ends with the test. */
export async function originOf(
  files: Readonly<Record<string, Uint8Array | string>>,
  options: Omit<OriginOptions, "files"> = {},
): Promise<Origin> {
  const origin = await startOrigin({ ...options, files });
  onTestFinished(() => origin.close());
  return origin;
}

/** Whether a request is for the end of a file, which is asked for first. */
export const isTail = ({ headers }: Pick<FaultRequest, "headers">) =>
  /^bytes=-\d+$/.test(headers.range ?? "");

/** Whether a request is for the beginning of a file, which is asked for together with its end. */
export const isHead = ({ headers }: Pick<FaultRequest, "headers">) =>
  /^bytes=0-/.test(headers.range ?? "");

/** Whether a request is for neither: it is made when the end is known. */
export const isPart = (request: Pick<FaultRequest, "headers">) =>
  request.headers.range !== undefined && !isTail(request) && !isHead(request);

/** A fault of all answers to some requests, or of the first so many. */
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

/** Throws unless all connections are closed soon, as they are if nobody keeps them. */
export async function expectNoConnections(origin: Origin): Promise<void> {
  // A moment later than here, the other end is told.
  for (let wait = 0; wait < 200 && origin.connectionCount > 0; wait += 1) await sleep(5);
  expect(origin.connectionCount, "connections that are open").toBe(0);
}

/** Throws unless nothing is left of work that is over: no file of its own, and no connection. */
export async function expectNothingLeft(folder: string, origin?: Origin): Promise<void> {
  expect(leftovers(folder)).toEqual([]);
  if (origin !== undefined) await expectNoConnections(origin);
}
