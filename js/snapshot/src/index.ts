export type { CreateOptions } from "./create-options.js";
export { type CreateInfo, createSnapshot } from "./create-snapshot.js";
export { type Place, SnapshotError, type SnapshotErrorCode } from "./error.js";
export { inspectSnapshot } from "./inspect-snapshot.js";
export type { SnapshotInfo } from "./manifest.js";
export type { ReadOptions, ReadWorkOptions, WorkOptions } from "./options.js";
export type { Progress } from "./progress.js";
export { type RestoreInfo, restoreSnapshot } from "./restore-snapshot.js";
export { verifySnapshot } from "./verify-snapshot.js";
