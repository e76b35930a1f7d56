/** Permanent failures of the store: operations are rejected and leave nothing behind. */
import { existsSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import type { SnapshotErrorCode } from "@hedgerow/snapshot";

import { startProxy } from "../../support/snapshots/proxy.js";
import type { Snapshot } from "./acknowledged.js";
import type { Sandboxes } from "./sandboxes.js";
import { ServiceError } from "./service.js";

export const REFUSALS = ["refused: reading", "refused: writing"] as const;

/** Makes the store fail: reads in even rounds, writes in odd ones. */
export async function refuseAll(
  sandboxes: Sandboxes,
  snapshot: Snapshot,
  number: number,
): Promise<void> {
  const kind = REFUSALS[number % 2]!;
  const isRefused = kind === "refused: reading" ? isLatePart : isLastPart;
  await using proxy = await startProxy(sandboxes.store.server.endpoint, (request) =>
    isRefused(request) ? { status: 500 } : undefined,
  );
  const options = { ...sandboxes.transfer(proxy.endpoint), connections: 1, retries: 1 };
  if (kind === "refused: reading") await refuseReading(sandboxes, snapshot, options);
  else await refuseWriting(sandboxes, snapshot, options);
  sandboxes.coverage.count(kind);
}

/** Length of every part of an upload except the last. */
const PART_BYTES = 5 * 2 ** 20;

/** Whether a request uploads the last part, or the whole object in a single request. */
function isLastPart({ method, headers }: IncomingMessage): boolean {
  return method === "PUT" && Number(headers["content-length"]) < PART_BYTES;
}

/** Whether a request reads a range after the first and last ones. */
function isLatePart({ method, headers }: IncomingMessage): boolean {
  return method === "GET" && /^bytes=[1-9]/.test(headers.range ?? "");
}

type Transfer = ReturnType<Sandboxes["transfer"]>;

async function refuseReading(
  sandboxes: Sandboxes,
  snapshot: Snapshot,
  options: Transfer,
): Promise<void> {
  const target = sandboxes.path("images", "refused");
  const more = { ...options, partSize: 2 ** 18, digest: snapshot.digest };
  const restoring = sandboxes.service.call("restore", sandboxes.urlOf(snapshot), target, more);
  await expectCode(restoring, "ERR_SOURCE");
  if (existsSync(target)) throw new Error("a failed restore left an image");
}

async function refuseWriting(
  sandboxes: Sandboxes,
  snapshot: Snapshot,
  options: Transfer,
): Promise<void> {
  const { service, store } = sandboxes;
  const image = sandboxes.path("images", "refused");
  await sandboxes.restoreCached(service, snapshot, image);
  const key = "refused.vhs";
  const more = { ...options, partSize: PART_BYTES, level: 1 };
  await expectCode(service.call("create", image, sandboxes.urlOf({ key }), more), "ERR_TARGET");
  if (existsSync(join(store.server.folder, key))) throw new Error("a failed upload left an object");
  rmSync(image);
}

async function expectCode(promise: Promise<unknown>, code: SnapshotErrorCode): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof ServiceError && error.code === code) return;
  throw new Error(`expected ${code}, found ${error}`, { cause: error });
}
