/** Images of remote snapshots that cannot be written. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createSnapshot, restoreSnapshot, type SnapshotInfo } from "@hedgerow/snapshot";
import { beforeAll, beforeEach, expect, test } from "vitest";

import type { Origin } from "../../../../tests/origin/origin.mjs";
import { leftovers, temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { onDisk } from "../support/disk.js";
import { type Job, run } from "../support/job.js";
import { refusalOf } from "../support/refusal.js";
import { expectNoConnections, faultsOf, isHead, isTail, originOf } from "../support/remote.js";

const MIB = 2 ** 20;
const OLD = "what was there before";

const path = temporaryFolder();
const [snapshot, folder] = [path("image.vhs"), path("folder")];
const target = path("folder", "target");
const bytes = noise("image", 8 * MIB);
const OPTIONS = { workers: 1, connections: 2, partSize: MIB };

let info: SnapshotInfo;

beforeAll(async () => {
  writeFileSync(path("image"), bytes);
  info = await createSnapshot(path("image"), snapshot, { pieceSize: 2 ** 16 });
});

beforeEach(() => {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
});

/** Throws if an origin was asked for more than the tail and the prefix. */
async function expectNoData(origin: Origin): Promise<void> {
  await expectNoConnections(origin);
  expect(origin.requests.filter((request) => !isTail(request) && !isHead(request))).toEqual([]);
}

const jobOf = (origin: Origin, options: Job["options"] = {}): Job => ({
  call: "restoreSnapshot",
  source: origin.url("/a.vhs").href,
  target,
  options: { ...OPTIONS, ...options },
});

test.each([false, true])(
  "reports a disk without room before it fetches data (resume: %s)",
  async (resume) => {
    const origin = await originOf({ "/a.vhs": snapshot });
    const under = onDisk(folder, "4m", `printf '${OLD}' > "$0/target"`);
    const outcome = await run(jobOf(origin, { resume }), { under });
    expect(outcome.error).toMatchObject({ code: "ERR_TARGET", causeCode: "ENOSPC" });
    expect(outcome.error?.message).toMatch(/needs \d+ bytes on the disk, \d+ are free/);
    expect(outcome.error?.message).toContain(target);
    expect(outcome.running).toBe(0);
    expect(outcome.names).toContain("target");
    if (!resume) expect(outcome.names).toEqual(["target"]);
    await expectNoData(origin);
  },
);

test("reports a disk that fills up during a restore, and leaves nothing", async () => {
  // Slow enough for the disk to fill up first.
  const faults = faultsOf((request) => !isTail(request), { bytesPerSecond: 200_000 });
  const origin = await originOf({ "/a.vhs": snapshot }, { faults });
  // The check for room is over when the image has its full length.
  const isBegun = `[ -n "$(find "$0" -name '.hedgerow-*' -size +1)" ]`;
  const wait = `for _ in $(seq 500); do ${isBegun} && break; sleep 0.05; done`;
  const fill = `(${wait}; head -c ${12 * MIB} /dev/zero > "$0/others") 2> /dev/null & true`;
  const outcome = await run(jobOf(origin), { under: onDisk(folder, "12m", fill) });
  expect(outcome.error).toMatchObject({ code: "ERR_TARGET", causeCode: "ENOSPC" });
  expect(outcome.error?.message).toContain(target);
  expect(outcome.error?.message).not.toContain("expected room");
  expect(outcome).toMatchObject({ names: ["others"], running: 0 });
  await expectNoConnections(origin);
});

test("checks the room of the disk that a link leads to", async () => {
  const origin = await originOf({ "/a.vhs": snapshot });
  mkdirSync(path("small"), { recursive: true });
  writeFileSync(path("folder", "other"), OLD);
  const job = { ...jobOf(origin), target: path("small", "target") };
  const under = onDisk(path("small"), "1m", `ln -s "${path("folder", "other")}" "$0/target"`);
  const outcome = await run(job, { under });
  expect(outcome).toMatchObject({ error: null, names: ["target"] });
  expectSame(readFileSync(path("folder", "other")), bytes);
  expect(readdirSync(folder)).toEqual(["other"]);
});

test("keeps a link, and writes the file that it leads to", async () => {
  const origin = await originOf({ "/a.vhs": snapshot });
  writeFileSync(path("folder", "other"), OLD);
  symlinkSync("other", target);
  for (const resume of [false, true]) {
    await restoreSnapshot(origin.url("/a.vhs"), target, { ...OPTIONS, resume });
    expectSame(readFileSync(path("folder", "other")), bytes);
    expect(readdirSync(folder).sort()).toEqual(["other", "target"]);
  }
});

test("keeps an existing image with overwrite: false", async () => {
  for (const resume of [false, true]) {
    const origin = await originOf({ "/a.vhs": snapshot });
    writeFileSync(target, OLD);
    const options = { ...OPTIONS, resume, overwrite: false };
    const error = await refusalOf(
      restoreSnapshot(origin.url("/a.vhs"), target, options),
      "ERR_TARGET",
    );
    expect(error.message).toBe(`${target} already exists; pass overwrite: true to replace it`);
    expect(readFileSync(target, "utf8")).toBe(OLD);
    expect(leftovers(folder)).toEqual([]);
    await expectNoData(origin);
  }
});

test.each(["none/target", "file/target", "", "target/"])(
  "refuses %j as the path of an image",
  async (name) => {
    const origin = await originOf({ "/a.vhs": snapshot });
    writeFileSync(path("folder", "file"), OLD);
    const restoring = restoreSnapshot(origin.url("/a.vhs"), `${folder}/${name}`, OPTIONS);
    await refusalOf(restoring, "ERR_TARGET");
    expect(readdirSync(folder)).toEqual(["file"]);
    await expectNoData(origin);
  },
);

test("refuses a snapshot with another digest before it writes anything", async () => {
  const origin = await originOf({ "/a.vhs": snapshot });
  const digest = "0".repeat(64);
  for (const resume of [false, true]) {
    const options = { ...OPTIONS, digest, resume };
    const restoring = restoreSnapshot(origin.url("/a.vhs"), target, options);
    const error = await refusalOf(restoring, "ERR_SNAPSHOT_DIGEST");
    expect(error.message).toContain(digest);
    expect(error.message).toContain(info.digest);
    expect(existsSync(target)).toBe(false);
    expect(readdirSync(folder)).toEqual([]);
  }
  await expectNoData(origin);
});
