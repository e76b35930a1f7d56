/** Stores that fail for good: an error says so, and nothing is left of what was begun. */
import { existsSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";
import type { SnapshotErrorCode } from "@hedgerow/snapshot";

import { startProxy } from "../../support/snapshots/proxy.js";
import type { Snapshot } from "./ledger.js";
import type { Sandboxes } from "./sandboxes.js";
import { ServiceError } from "./service.js";

export const REFUSALS = ["refused: reading", "refused: writing"] as const;

/** In turns: nothing can be read, and nothing can be written. */
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

/** How long all parts of an upload are but the last. */
const PART = 5 * 2 ** 20;

/** Of an upload, the last part, or all of it if it has no other. */
function isLastPart({ method, headers }: IncomingMessage): boolean {
  return method === "PUT" && Number(headers["content-length"]) < PART;
}

/** What is read when the end and the beginning are known. */
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
  if (existsSync(target)) throw new Error("expected no image where reading was refused");
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
  const more = { ...options, partSize: PART, level: 1 };
  await expectCode(service.call("create", image, sandboxes.urlOf({ key }), more), "ERR_TARGET");
  if (existsSync(join(store.server.folder, key))) throw new Error("expected no refused object");
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
