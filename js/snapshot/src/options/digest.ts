import { SnapshotError } from "../error.js";

/** Returns the digest in an option, in lower case. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkedDigestOf(name: string, digest: string | undefined): string | undefined {
  if (digest === undefined) return undefined;
  if (typeof digest === "string" && /^[0-9a-f]{64}$/i.test(digest)) return digest.toLowerCase();
  throw new SnapshotError("ERR_ARGUMENT", `${name}: expected 64 hexadecimal digits`);
}

/**
 * Throws if a snapshot has another digest than the caller expects.
 *
 * @throws {SnapshotError} `ERR_SNAPSHOT_DIGEST`
 */
export function checkPinned(name: string, expected: string | undefined, found: string): void {
  if (expected === undefined || expected === found) return;
  throw new SnapshotError(
    "ERR_SNAPSHOT_DIGEST",
    `${name}: expected the snapshot of digest ${expected}, found ${found}`,
  );
}
