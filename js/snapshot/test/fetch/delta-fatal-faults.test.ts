/** Faults at one of the files of a delta that end a restore: its error names the file. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { restoreSnapshot, type SnapshotErrorCode, verifySnapshot } from "@hedgerow/snapshot";
import { expect, test } from "vitest";

import { noise } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { fatal } from "../support/fault-tables.js";
import { OPTIONS, path, restored } from "../support/faulty.js";
import {
  type ChainFile,
  chain,
  nameOf,
  restoreDelta,
  serveDelta,
  withFiles,
} from "../support/faulty-delta.js";
import { refusalOf } from "../support/refusal.js";
import { expectNothingLeft, isPart } from "../support/remote.js";

test.each(withFiles(fatal))(
  "reports $name at $file of a delta, names it, and leaves nothing",
  async ({ fault, file }) => {
    const origin = await serveDelta(file, fault.faults());
    const { timeouts, workers = OPTIONS.workers } = fault;
    const error = await restoreDelta(origin, file, { timeouts, workers });
    expect(error).toMatchObject({ code: fault.code ?? "ERR_SOURCE", status: fault.status });
    expect(error?.message).toMatch(fault.message ?? /./);
    if (fault.cause !== undefined) expect(error).toMatchObject({ cause: fault.cause });
    const asked = origin.requests.filter(({ path }) => path === `/${file}`);
    expect(asked.length).toBeLessThanOrEqual(fault.maxRequests ?? 60);
  },
);

const BASES = ["first.vhs", "base.vhs"] as const;

test.each(BASES)("reports that %s of a delta was replaced while it was read", async (file) => {
  const origin = await serveDelta(file);
  const bytes = noise("replacement", chain.files[file].length);
  const { faults } = origin;
  origin.faults = (request) => {
    if (isPart(request) && request.path === `/${file}`) origin.set(`/${file}`, bytes);
    return faults?.(request);
  };
  const error = await restoreDelta(origin, file);
  expect(error).toMatchObject({ code: "ERR_SOURCE_CHANGED", status: 412 });
});

/** Files in place of a base object, and the error of a restore. */
const wrong: Record<string, [(bytes: Buffer) => Buffer, SnapshotErrorCode]> = {
  "one byte longer": [(bytes) => Buffer.concat([bytes, Buffer.alloc(1)]), "ERR_SNAPSHOT_DIGEST"],
  "one byte shorter": [(bytes) => bytes.subarray(1), "ERR_SNAPSHOT_DIGEST"],
  empty: [() => Buffer.alloc(0), "ERR_SNAPSHOT_DIGEST"],
  "of the same size with zeros": [({ length }) => Buffer.alloc(length), "ERR_SNAPSHOT_FORMAT"],
  "of the same size with other bytes": [
    ({ length }) => noise("other", length),
    "ERR_SNAPSHOT_FORMAT",
  ],
  "shifted by one byte": [
    (bytes) => Buffer.concat([bytes.subarray(1), bytes.subarray(0, 1)]),
    "ERR_SNAPSHOT_FORMAT",
  ],
};

// `npm test` tries each of them in place of one of the base objects.
const cases = Object.entries(wrong).flatMap(([name, [make, code]], index) =>
  BASES.filter((_, at) => trials({ few: (index + at) % BASES.length, all: 0 }) === 0).map(
    (file) => ({ name, make, code, file }),
  ),
);

/** Writes the files of the delta to a folder, with one of them changed. */
function withChanged(file: ChainFile, make: (bytes: Buffer) => Buffer | undefined): void {
  for (const [name, bytes] of Object.entries(chain.files)) writeFileSync(path(name), bytes);
  const changed = make(chain.files[file]);
  if (changed === undefined) rmSync(path(file));
  else writeFileSync(path(file), changed);
}

test.each(cases)("refuses a base object $file that is $name", async ({ make, code, file }) => {
  const origin = await serveDelta(file);
  origin.set(`/${file}`, make(chain.files[file]));
  expect(await restoreDelta(origin, file, { retries: 1 })).toMatchObject({ code });

  withChanged(file, make);
  for (const call of [
    () => restoreSnapshot(path("a.vhs"), restored, OPTIONS),
    () => verifySnapshot(path("a.vhs"), OPTIONS),
  ]) {
    const error = await refusalOf(call(), code);
    expect(error.message).toContain(nameOf(file));
    if (code === "ERR_SNAPSHOT_FORMAT") expect(error.message).toContain(error.field);
  }
  expect(existsSync(restored)).toBe(false);
  await expectNothingLeft(path(), origin);
});

test.each(BASES)("reports that %s of a delta is missing", async (file) => {
  withChanged(file, () => undefined);
  const error = await refusalOf(verifySnapshot(path("a.vhs"), OPTIONS), "ERR_SOURCE");
  expect(error.message).toContain(`cannot read ${nameOf(file)} (${path(file)})`);
  expect(error.cause).toMatchObject({ code: "ENOENT" });
});

test("names the offset of a damaged frame in the base object", async () => {
  const at = chain.files["base.vhs"].length >> 2;
  withChanged("base.vhs", (bytes) => {
    const damaged = Buffer.from(bytes);
    damaged[at]! ^= 1;
    return damaged;
  });
  const call = restoreSnapshot(path("a.vhs"), restored, OPTIONS);
  const { offset, message } = await refusalOf(call, "ERR_SNAPSHOT_FORMAT");
  expect(offset).toBeLessThanOrEqual(at);
  expect(offset).toBeGreaterThan(at - 2 ** 17);
  expect(message).toContain(nameOf("base.vhs"));
  await expectNothingLeft(path());
});

test.each(["a.vhs", ...BASES] as const)(
  "does not replace %s by the image of the delta",
  async (file) => {
    withChanged(file, (bytes) => bytes);
    const call = restoreSnapshot(path("a.vhs"), path(file), { ...OPTIONS, overwrite: true });
    const error = await refusalOf(call, "ERR_ARGUMENT");
    expect(error.message).toContain(`image: expected a path other than`);
    expect(readFileSync(path(file)).equals(chain.files[file])).toBe(true);
    await expectNothingLeft(path());
  },
);
