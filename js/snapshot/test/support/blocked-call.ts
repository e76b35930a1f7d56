/** Calls whose event loop is blocked. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";

import type { CreateOptions, SnapshotInfo } from "@hedgerow/snapshot";

const SCRIPT = new URL("blocked-call.mjs", import.meta.url);

/** A call, and how long its event loop is blocked. */
export interface BlockedCall {
  readonly call: "createSnapshot" | "inspectSnapshot";
  readonly source: string;
  /** The snapshot to create. */
  readonly target?: string;
  readonly options: Pick<CreateOptions, "timeouts" | "level">;
  /** Where the server says how many requests it has received. */
  readonly statistics: string;
  readonly milliseconds: number;
}

/** Runs a call in a thread. Its event loop is blocked from the first request on. */
export async function callBlocked(call: BlockedCall): Promise<SnapshotInfo> {
  const worker = new Worker(SCRIPT, { workerData: call });
  const [result] = (await once(worker, "message")) as [SnapshotInfo];
  await worker.terminate();
  return result;
}
