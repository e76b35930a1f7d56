/** Images to upload, and their snapshots. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createSnapshot } from "@hedgerow/snapshot";
import { afterAll, beforeAll, vi } from "vitest";

import { leftovers, temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise } from "../../../../tests/support/snapshots/image.js";

export const MIB = 2 ** 20;

/**
 * How long an abort may take on a busy machine, in milliseconds: less than the wait for a response that does not
 * come.
 */
export const MAX_ABORT_TIME = 4_000;

export const path = temporaryFolder();
export const [image, small, empty] = [path("image"), path("small"), path("empty")];

/** The snapshot of each image. */
export const expected = new Map<string, Buffer>();

/** Returns what was left in the temporary folder of the system, which is another for these tests. */
export const temporaryFiles = () => leftovers(path("tmp"));

beforeAll(async () => {
  mkdirSync(path("tmp"));
  vi.stubEnv("TMPDIR", path("tmp"));
  writeFileSync(image, noise("upload", 11 * MIB + 5));
  writeFileSync(small, noise("small", MIB));
  writeFileSync(empty, "");
  for (const name of [image, small, empty]) {
    await createSnapshot(name, path("local.vhs"), { workers: 1 });
    expected.set(name, readFileSync(path("local.vhs")));
  }
});

afterAll(() => {
  vi.unstubAllEnvs();
});
