/** Faults of servers and networks that end a restore with an error. */
import { restoreSnapshot } from "@hedgerow/snapshot";
import { expect, test } from "vitest";
import { noise } from "../../../../tests/support/snapshots/image.js";
import { fatal } from "../support/fault-tables.js";
import { file, OPTIONS, path, restore, restored, serve } from "../support/faulty.js";
import { refusalOf } from "../support/refusal.js";
import { expectNothingLeft, originOf } from "../support/remote.js";

/** The end of the message after the retries of `OPTIONS`. */
const OFTEN = "(4 times in a row)";

test.each(Object.entries(fatal))("reports %s, and leaves no files", async (_, expected) => {
  const origin = await serve({ faults: expected.faults() });
  const { timeouts, workers = OPTIONS.workers } = expected;
  const error = await restore(origin, { timeouts, workers });
  expect(error).toMatchObject({ code: expected.code ?? "ERR_SOURCE", status: expected.status });
  expect(error?.message).toMatch(expected.message ?? /./);
  if (expected.cause !== undefined) expect(error).toMatchObject({ cause: expected.cause });
  expect(origin.requestCount).toBeLessThanOrEqual(expected.maxRequests ?? 60);
});

const objects: Record<string, () => Buffer> = {
  "an empty object": () => Buffer.alloc(0),
  "one byte": () => Buffer.alloc(1),
  noise: () => noise("none", 100_000),
  "a page": () => Buffer.from("<!doctype html>".repeat(10_000)),
  "a truncated snapshot": () => file.subarray(0, -1),
  "a snapshot with a flipped bit in its tail": () => {
    const damaged = Buffer.from(file);
    damaged[damaged.length - 1000]! ^= 1;
    return damaged;
  },
  "the first half of a snapshot": () => file.subarray(0, file.length >> 1),
  "the last half of a snapshot": () => file.subarray(file.length >> 1),
};

test.each(Object.entries(objects))(
  "refuses an object that is no snapshot: %s",
  async (_, bytes) => {
    const origin = await originOf({ "/a.vhs": bytes() });
    expect(await restore(origin)).toMatchObject({ code: "ERR_SNAPSHOT_FORMAT" });
    expect(origin.requestCount).toBeLessThanOrEqual(4);
  },
);

test("reports a refused connection, and leaves no files", async () => {
  const origin = await serve();
  await origin.close();
  const error = await restore(origin);
  expect(error).toMatchObject({ code: "ERR_SOURCE", cause: { code: "ECONNREFUSED" } });
  expect(error?.message).toContain(OFTEN);
});

test("reports a host that does not exist, and leaves no files", async () => {
  // An invalid name fails at once, without a query to a name server.
  const restoring = restoreSnapshot("http://nobody..invalid/a.vhs?secret", restored, OPTIONS);
  const error = await refusalOf(restoring, "ERR_SOURCE");
  expect(error.cause).toMatchObject({ code: "ENOTFOUND" });
  expect(error.message).toContain("http://nobody..invalid/a.vhs:");
  await expectNothingLeft(path());
});
