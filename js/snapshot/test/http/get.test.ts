/** Servers that do not support ranges, or not all of them. */
import { channel } from "node:diagnostics_channel";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createSnapshot,
  inspectSnapshot,
  restoreSnapshot,
  type SnapshotInfo,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, beforeEach, expect, onTestFinished, test, vi } from "vitest";

import { rejectionOf } from "../../../../tests/support/assert.js";
import { leftovers, temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { type Job, run } from "../support/job.js";
import { refusalOf } from "../support/refusal.js";
import { expectNothingLeft, faultsOf, isTail, originOf } from "../support/remote.js";

const path = temporaryFolder();
const [snapshot, restored] = [path("image.vhs"), path("restored")];
const bytes = noise("image", 3 * 2 ** 20);
const OPTIONS = { workers: 1, retries: 3 };

let info: SnapshotInfo;

beforeAll(async () => {
  writeFileSync(path("image"), bytes);
  const { duration: _, ...made } = await createSnapshot(path("image"), snapshot);
  info = made;
  mkdirSync(path("tmp"));
});

beforeEach(() => {
  rmSync(restored, { force: true });
  vi.stubEnv("TMPDIR", path("tmp"));
  return () => vi.unstubAllEnvs();
});

const all = () => true;
const IGNORED = { ignoreRange: true };

/** Collects the warnings and events about missing ranges during a test. */
function listen() {
  const [warnings, events]: [string[], unknown[]] = [[], []];
  const onWarning = (warning: NodeJS.ErrnoException) => {
    if (warning.code === "HEDGEROW_NO_RANGES") warnings.push(warning.message);
  };
  const onEvent = (event: unknown) => void events.push(event);
  const noRanges = channel("hedgerow:snapshot:no-ranges");
  process.on("warning", onWarning);
  noRanges.subscribe(onEvent);
  onTestFinished(() => {
    process.off("warning", onWarning);
    noRanges.unsubscribe(onEvent);
  });
  return { warnings, events };
}

test("restores from one stream, and warns once", async () => {
  const { warnings, events } = listen();
  const origin = await originOf({ "/a.vhs": snapshot }, { faults: faultsOf(all, IGNORED) });
  const url = origin.url("/a.vhs?secret");
  await restoreSnapshot(url, restored, OPTIONS);
  expectSame(readFileSync(restored), bytes);
  await expectNothingLeft(path(), origin);
  expect(readdirSync(path("tmp"))).toEqual([]);
  await sleep(0);
  expect(warnings).toEqual([
    expect.stringContaining(`${origin.url("/a.vhs").href}: the server has no`),
  ]);
  expect(events).toEqual([{ url: origin.url("/a.vhs").href }]);
  const whole = origin.requests.filter(({ headers }) => headers.range === undefined);
  expect(whole).toMatchObject([{ bytesSent: info.fileSize, aborted: false }]);
});

test("verifies, inspects and resumes from one stream", async () => {
  const origin = await originOf({ "/a.vhs": snapshot }, { faults: faultsOf(all, IGNORED) });
  expect(await verifySnapshot(origin.url("/a.vhs"), OPTIONS)).toEqual(info);
  expect(await inspectSnapshot(origin.url("/a.vhs"), { retries: 3 })).toEqual(info);
  await restoreSnapshot(origin.url("/a.vhs"), restored, { ...OPTIONS, resume: true });
  expectSame(readFileSync(restored), bytes);
  await expectNothingLeft(path(), origin);
  expect(readdirSync(path("tmp"))).toEqual([]);
});

const isStream = ({ headers }: { headers: { range?: string | undefined } }) =>
  headers.range === undefined;

test.each([
  ["cut", { cutAfter: 2 ** 20 }, {}],
  ["reset", { cutAfter: 2 ** 20, reset: true }, {}],
  // Long enough for a process that is held up.
  ["stalled", { stallAfter: 2 ** 20 }, { stall: 2_000 }],
  ["refused", { status: 503 }, {}],
  ["too short", { extraBytes: -5000 }, {}],
])("restarts a stream that is %s", async (_, fault, timeouts) => {
  const { warnings } = listen();
  const bad = faultsOf(isStream, { ...IGNORED, ...fault }, 2);
  const faults = (request: Parameters<typeof bad>[0]) => bad(request) ?? IGNORED;
  const origin = await originOf({ "/a.vhs": snapshot }, { faults });
  await restoreSnapshot(origin.url("/a.vhs"), restored, { ...OPTIONS, timeouts });
  expectSame(readFileSync(restored), bytes);
  expect(origin.requests.filter(isStream)).toHaveLength(3);
  await expectNothingLeft(path(), origin);
  await sleep(0);
  expect(warnings).toHaveLength(1);
});

test("keeps nothing of a cut stream if the next one is shorter", async () => {
  // The server has another object first.
  const content = Buffer.concat([readFileSync(snapshot), noise("longer", 2 ** 20)]);
  const longer = faultsOf(isStream, { ...IGNORED, content, cutAfter: info.fileSize + 2 ** 19 }, 1);
  const faults = (request: Parameters<typeof longer>[0]) => longer(request) ?? IGNORED;
  const origin = await originOf({ "/a.vhs": snapshot }, { faults });
  await restoreSnapshot(origin.url("/a.vhs"), restored, OPTIONS);
  expectSame(readFileSync(restored), bytes);
  expect(origin.requests.filter(isStream)).toHaveLength(2);
  await expectNothingLeft(path(), origin);
});

test("reports a stream that is always cut, and leaves nothing", async () => {
  const fault = { ...IGNORED, cutAfter: 2 ** 20 };
  const origin = await originOf({ "/a.vhs": snapshot }, { faults: faultsOf(all, fault) });
  const restoring = restoreSnapshot(origin.url("/a.vhs"), restored, OPTIONS);
  const error = await refusalOf(restoring, "ERR_SOURCE");
  expect(error.message).toMatch(/^cannot read http.*\(4 times in a row\)$/);
  expect(existsSync(restored)).toBe(false);
  await expectNothingLeft(path(), origin);
  expect(readdirSync(path("tmp"))).toEqual([]);
});

test("refuses a stream with a flipped bit", async () => {
  const fault = { ...IGNORED, flipBit: 2 ** 20 };
  const origin = await originOf({ "/a.vhs": snapshot }, { faults: faultsOf(all, fault) });
  await refusalOf(restoreSnapshot(origin.url("/a.vhs"), restored, OPTIONS), "ERR_SNAPSHOT_FORMAT");
  expect(existsSync(restored)).toBe(false);
  await expectNothingLeft(path(), origin);
});

test("aborts a stream, and leaves nothing", async () => {
  const conditions = { bytesPerSecond: 1_000_000 };
  const faults = faultsOf(all, IGNORED);
  const origin = await originOf({ "/a.vhs": snapshot }, { faults, conditions });
  const signal = AbortSignal.timeout(500);
  const restoring = restoreSnapshot(origin.url("/a.vhs"), restored, { ...OPTIONS, signal });
  expect(await rejectionOf(restoring)).toBe(signal.reason);
  await expectNothingLeft(path(), origin);
  expect(readdirSync(path("tmp"))).toEqual([]);
});

test("reports that the disk has no room for the stream", async () => {
  mkdirSync(path("disk"));
  const faults = faultsOf(all, IGNORED);
  const origin = await originOf({ "/a.vhs": snapshot }, { faults });
  const source = origin.url("/a.vhs").href;
  const job: Job = { call: "restoreSnapshot", source, target: path("folder", "target") };
  mkdirSync(path("folder"));
  const mount = `mount -t tmpfs -o size=1m tmpfs "$0"; exec "$@"`;
  const isRoot = process.getuid?.() === 0;
  const namespace = isRoot ? ["--mount"] : ["--mount", "--map-root-user"];
  const under = ["unshare", ...namespace, "sh", "-c", mount, path("disk")];
  const outcome = await run(job, { under, env: { TMPDIR: path("disk") } });
  expect(outcome.error).toMatchObject({ code: "ERR_TARGET", causeCode: "ENOSPC" });
  expect(outcome.error?.message).toContain(path("disk"));
  expect(outcome).toMatchObject({ names: [], running: 0 });
});

test("requests ranges from a server that supports all but suffix ranges", async () => {
  const { warnings, events } = listen();
  const origin = await originOf({ "/a.vhs": snapshot }, { faults: faultsOf(isTail, IGNORED) });
  await restoreSnapshot(origin.url("/a.vhs"), restored, OPTIONS);
  expectSame(readFileSync(restored), bytes);
  expect(await inspectSnapshot(origin.url("/a.vhs"))).toEqual(info);
  expect(origin.requests.filter(isStream)).toEqual([]);
  await expectNothingLeft(path(), origin);
  await sleep(0);
  expect([warnings, events]).toEqual([[], []]);
});

test("notices on a retry that the server does not support ranges", async () => {
  let count = 0;
  const faults = faultsOf(isTail, () => {
    count += 1;
    return count === 1 ? { status: 500 } : IGNORED;
  });
  const origin = await originOf({ "/a.vhs": snapshot }, { faults });
  await restoreSnapshot(origin.url("/a.vhs"), restored, OPTIONS);
  expectSame(readFileSync(restored), bytes);
  expect(leftovers(path())).toEqual([]);
});
