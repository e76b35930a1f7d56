import { SnapshotError, type SnapshotErrorCode } from "@hedgerow/snapshot";
import { expect } from "vitest";

import { rejectionOf } from "../../../../tests/support/assert.js";

/** Returns the `SnapshotError` that a promise rejects with, and checks its code. */
export async function refusalOf(
  promise: Promise<unknown>,
  code: SnapshotErrorCode,
): Promise<SnapshotError> {
  const error = await rejectionOf(promise);
  if (!(error instanceof SnapshotError)) {
    throw new Error(`expected a SnapshotError ${code}, found ${error}`, { cause: error });
  }
  expect(error.code, error.message).toBe(code);
  return error;
}
