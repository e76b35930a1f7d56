/** Faults: full and failing disks, images that change, failing threads, aborts. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { promisify } from "node:util";
import type { Worker } from "node:worker_threads";
import {
  type CreateOptions,
  createSnapshot,
  type ReadWorkOptions,
  restoreSnapshot,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";

import { rejectionOf } from "../../../tests/support/assert.js";
import { leftovers, temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { letters, noise } from "../../../tests/support/snapshots/image.js";
import { trials } from "../../../tests/support/trials.js";
import { onDisk } from "./support/disk.js";
import { type Job, type Outcome, run, sharedProcess } from "./support/job.js";
import { refusalOf } from "./support/refusal.js";
import { originOf } from "./support/remote.js";

const MIB = 2 ** 20;
const OLD = "what was there before";
const OLD_DIGEST = createHash("sha256").update(OLD).digest("hex");

/** The length of a piece of the large image, and their number. */
const [PIECE, PIECES] = [2 ** 15, 1536];

const path = temporaryFolder();
const [image, snapshot] = [path("image"), path("image.vhs")];
/** An image of many pieces, which takes long to read: see `slow-disk`. */
const [large, largeSnapshot] = [path("large"), path("large.vhs")];

beforeAll(async () => {
  writeFileSync(image, noise("image", 6 * MIB));
  await createSnapshot(image, snapshot, { workers: 1 });
  writeFileSync(large, Buffer.alloc(PIECES * PIECE, letters("large", PIECE)));
  await createSnapshot(large, largeSnapshot, { workers: 1, level: 1, pieceSize: PIECE });
});

const calls = ["createSnapshot", "restoreSnapshot"] as const;

/** Processes whose threads load a module first. */
const processes = {
  plain: sharedProcess(),
  "disk-fails": sharedProcess({ preload: "disk-fails" }),
  "few-threads": sharedProcess({ preload: "few-threads" }),
  // Whole runs would take half a minute: none is awaited.
  "slow-disk": sharedProcess({ preload: "slow-disk", env: { SLOW_DISK_DELAY: "40" } }),
  "worker-exits": sharedProcess({ preload: "worker-exits" }),
  "worker-fails": sharedProcess({ preload: "worker-fails" }),
};

let folders = 0;

/** Makes an empty folder and returns its path. */
function emptyFolder(): string {
  folders += 1;
  const folder = path(`folder-${folders}`);
  mkdirSync(folder);
  return folder;
}

/** Returns a job that replaces the only file in its folder. */
function jobOver(call: Job["call"], source: string): Job {
  const target = `${emptyFolder()}/target`;
  writeFileSync(target, OLD);
  return { call, source, target };
}

/** Throws unless the old file is unchanged and no thread is left. */
function expectUntouched(outcome: Outcome): void {
  expect(outcome).toMatchObject({ names: ["target"], target: OLD_DIGEST, running: 0 });
}

describe("disks", () => {
  const source = { createSnapshot: image, restoreSnapshot: snapshot };

  test.each(calls)("%s reports a full disk", async (call) => {
    const folder = emptyFolder();
    const job = { call, source: source[call], target: `${folder}/target` };
    const under = onDisk(folder, "4m", `printf '${OLD}' > "$0/target"`);
    const outcome = await run(job, { under });
    expect(outcome.error).toMatchObject({ code: "ERR_TARGET", causeCode: "ENOSPC" });
    expect(outcome.error?.message).toContain(job.target);
    expectUntouched(outcome);
  });

  test.each(calls)("%s reports a read-only disk", async (call) => {
    const folder = emptyFolder();
    const job = { call, source: source[call], target: `${folder}/target` };
    const setUp = `printf '${OLD}' > "$0/target"; mount -o remount,bind,ro "$0"`;
    const under = onDisk(folder, "4m", setUp);
    const outcome = await run(job, { under });
    expect(outcome.error).toMatchObject({ code: "ERR_TARGET", causeCode: "EROFS" });
    expect(outcome.error?.message).toContain(job.target);
    expectUntouched(outcome);
  });

  test.each(calls)("%s reports a file that exceeds the size limit", async (call) => {
    const job = jobOver(call, source[call]);
    const outcome = await run(job, { under: ["prlimit", `--fsize=${4 * MIB}`] });
    expect(outcome.error).toMatchObject({ code: "ERR_TARGET", causeCode: "EFBIG" });
    expect(outcome.error?.message).toContain("neither ulimit -f nor the file system may forbid");
    expectUntouched(outcome);
  });

  test("createSnapshot succeeds if the snapshot just fits", async () => {
    const folder = emptyFolder();
    const job = { call: "createSnapshot", source: path("fits"), target: `${folder}/new` } as const;
    writeFileSync(job.source, noise("fits", 3 * MIB));
    const outcome = await run(job, { under: onDisk(folder, "4m") });
    expect(outcome).toMatchObject({ error: null, names: ["new"] });
  });

  test("createSnapshot reports an image that becomes unreadable", async () => {
    const outcome = await processes["disk-fails"](jobOver("createSnapshot", image));
    expect(outcome.error).toMatchObject({ code: "ERR_IMAGE", causeCode: "EIO" });
    expect(outcome.error?.message).toContain(image);
    expectUntouched(outcome);
  });

  test.each(["restoreSnapshot", "verifySnapshot"] as const)(
    "%s reports a snapshot that becomes unreadable",
    async (call) => {
      const outcome = await processes["disk-fails"](jobOver(call, snapshot));
      expect(outcome.error).toMatchObject({ code: "ERR_SOURCE", causeCode: "EIO" });
      expect(outcome.error?.message).toContain(snapshot);
      expectUntouched(outcome);
    },
  );
});

describe("images that change", () => {
  const changing = path("changing");
  const bytes = letters("changing", 3 * MIB);

  const changes: Record<string, () => void> = {
    grows: () => appendFileSync(changing, "x"),
    "is truncated": () => truncateSync(changing, 2 * MIB),
    "is emptied": () => truncateSync(changing, 0),
    "is written to": () => {
      const file = openSync(changing, "r+");
      writeSync(file, "x", 5 * 4096);
      closeSync(file);
    },
    "is rewritten with the same bytes": () => writeFileSync(changing, bytes),
    "gets an older time": () => utimesSync(changing, 1e9, 1e9 - 1),
  };

  test.each(Object.keys(changes))("rejects an image that %s while it is read", async (name) => {
    writeFileSync(changing, bytes);
    utimesSync(changing, 1e9, 1e9);
    writeFileSync(path("changing.vhs"), OLD);
    // At the last progress event everything has been read.
    const onProgress = (progress: { bytes: number; totalBytes: number }) => {
      if (progress.bytes === progress.totalBytes) changes[name]?.();
    };
    const made = createSnapshot(changing, path("changing.vhs"), { workers: 1, onProgress });
    const error = await refusalOf(made, "ERR_IMAGE_CHANGED");
    expect(error.message).toContain(changing);
    expect(readFileSync(path("changing.vhs"), "utf8")).toBe(OLD);
    expect(leftovers(path())).toEqual([]);
  });

  test("rejects an image that is truncated before it was read to its end", async () => {
    const soon = path("soon truncated");
    writeFileSync(soon, letters("soon truncated", 8 * MIB));
    const seen: number[] = [];
    const onProgress = ({ bytes }: { bytes: number }) => {
      seen.push(bytes);
      if (seen.length === 1) truncateSync(soon, 0);
    };
    const options: CreateOptions = { workers: 1, level: 12, onProgress };
    await refusalOf(createSnapshot(soon, path("soon.vhs"), options), "ERR_IMAGE_CHANGED");
    expect(Math.max(...seen)).toBeLessThan(8 * MIB);
    expect(readdirSync(path())).not.toContain("soon.vhs");
    expect(leftovers(path())).toEqual([]);
  });

  test("accepts an image that others read meanwhile", async () => {
    writeFileSync(changing, bytes);
    const onProgress = () => void readFileSync(changing);
    await createSnapshot(changing, path("read.vhs"), { workers: 1, onProgress });
    await verifySnapshot(path("read.vhs"), { workers: 1 });
  });
});

describe("threads", () => {
  test("starts threads under options that Node allows on the main thread only", async () => {
    const code = `
      import { createSnapshot, restoreSnapshot } from "@hedgerow/snapshot";
      const [, image, snapshot, restored] = process.argv;
      await createSnapshot(image, snapshot);
      await restoreSnapshot(snapshot, restored);`;
    const files = [image, path("of text.vhs"), path("of text")];
    await promisify(execFile)(process.execPath, ["--input-type=module", "-e", code, ...files]);
    expect(readFileSync(path("of text")).equals(readFileSync(image))).toBe(true);
  });

  test("leaves no file open when threads are ended while they start", async () => {
    const open = () => readdirSync("/proc/self/fd").length;
    const before = open();
    const rounds = trials({ few: 5, all: 20 });
    for (let round = 0; round < rounds; round += 1) {
      const signal = AbortSignal.timeout(Math.floor((round * 20) / rounds));
      await verifySnapshot(snapshot, { signal }).catch(() => {});
    }
    // Other parts of this process may briefly have files open.
    await vi.waitFor(() => expect(open()).toBeLessThanOrEqual(before + 2), { timeout: 30_000 });
  });

  const everyCall = [
    ["createSnapshot", image],
    ["restoreSnapshot", snapshot],
    ["verifySnapshot", snapshot],
  ] as const;

  test.each(everyCall)("%s reports a thread that exits or fails", async (call, source) => {
    for (const [preload, message] of [
      ["worker-exits", "code 7"],
      ["worker-fails", "out of everything"],
    ] as const) {
      const outcome = await processes[preload](jobOver(call, source));
      expect(outcome.error).toMatchObject({ name: "SnapshotError", code: "ERR_WORKER" });
      expect(outcome.error?.message).toContain(message);
      expectUntouched(outcome);
    }
  });

  test.each(everyCall)(
    "%s reports threads that cannot start and ends the others",
    async (call, source) => {
      const job = { ...jobOver(call, source), options: { workers: 4 } };
      const outcome = await processes["few-threads"](job);
      expect(outcome.error).toMatchObject({
        code: "ERR_WORKER",
        causeCode: "ERR_WORKER_INIT_FAILED",
      });
      expect(outcome.error?.message).toContain("worker 3 of 4");
      expect(outcome.used).toBe(2);
      expectUntouched(outcome);
    },
  );

  test.each(everyCall)(
    "%s uses the requested number of threads, and leaves none busy",
    async (call, source) => {
      for (const workers of [1, 3]) {
        const outcome = await processes.plain({ ...jobOver(call, source), options: { workers } });
        expect(outcome).toMatchObject({ error: null, used: workers, running: 0 });
        expect(outcome.names).toEqual(["target"]);
      }
    },
  );

  test("serve the next call, and end when there is none for a second", async () => {
    const started: Worker[] = [];
    const note = (worker: Worker) => void started.push(worker);
    process.on("worker", note);
    // More than other tests have left.
    const options = { workers: 6, pieceSize: 2 ** 18 };
    await createSnapshot(image, path("first.vhs"), options);
    const count = started.length;
    await createSnapshot(image, path("next.vhs"), options);
    process.off("worker", note);
    expect(count).toBeGreaterThan(0);
    expect(started).toHaveLength(count);
    await vi.waitUntil(() => started.every(({ threadId }) => threadId === -1), 30_000);
  });
});

test("threads that serve the next call see its environment", async () => {
  const origin = await originOf({ "/a.vhs": readFileSync(snapshot) });
  const restore = (hostname: string) => {
    const url = origin.url("/a.vhs");
    url.hostname = hostname;
    return restoreSnapshot(url, path("proxied"), { retries: 0, partSize: MIB });
  };
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("http_proxy", "socks5://127.0.0.1:1");
  // Loopback addresses use no proxy.
  await restore("127.0.0.1");
  vi.stubEnv("http_proxy", "");
  await restore("0.0.0.0");
});

describe("aborts", () => {
  /** Half of the duration of a run on the slow disk, in milliseconds. */
  const SOON = 16_000;

  const works = [
    ["createSnapshot", () => large, { workers: 2, level: 9, pieceSize: PIECE }],
    ["restoreSnapshot", () => largeSnapshot, { workers: 1 }],
    ["verifySnapshot", () => largeSnapshot, { workers: 1 }],
  ] as const;

  test.each(works)("%s ends soon after the signal fires", async (call, source, options) => {
    const job: Job = { ...jobOver(call, source()), options, abort: "progress" };
    const outcome = await processes["slow-disk"](job);
    expect(outcome.error).toMatchObject({ isReason: true });
    expect(outcome.used).toBe(options.workers);
    expect(outcome.share).toBeLessThan(1);
    expect(outcome.delay).toBeLessThan(SOON);
    expectUntouched(outcome);
  });

  test.each(works)(
    "%s ends with the error that onProgress throws",
    async (call, source, options) => {
      const job: Job = { ...jobOver(call, source()), options, abort: "throw" };
      const outcome = await processes["slow-disk"](job);
      expect(outcome.error).toMatchObject({ isReason: true });
      expect(outcome.progressCalls, "not called again").toBe(1);
      expect(outcome.share).toBeLessThan(1);
      expect(outcome.delay).toBeLessThan(SOON);
      expectUntouched(outcome);
    },
  );

  const reason = new Error("the caller's own");

  test("createSnapshot ends soon after the signal even in a single hole", async () => {
    const holes = path("holes");
    writeFileSync(holes, "");
    truncateSync(holes, 2 ** 40);
    const make = (options: CreateOptions) => createSnapshot(holes, path("holes.vhs"), options);
    // The snapshot of a hole grows with its length.
    const fileSize = 8 * (await make({})).fileSize;
    rmSync(path("holes.vhs"));
    truncateSync(holes, 2 ** 43);

    const controller = new AbortController();
    const written: number[] = [];
    const abort: CreateOptions["onProgress"] = ({ compressedBytes }) => {
      written.push(compressedBytes);
      controller.abort(reason);
    };
    const aborted = make({ signal: controller.signal, onProgress: abort });
    expect(await rejectionOf(aborted)).toBe(reason);
    // Less than a tenth of the file is written after the abort.
    expect(written.at(-1)! - written[0]!).toBeLessThan(fileSize / 10);
    expect(written[0]).toBeLessThan(fileSize / 2);

    const onProgress = vi.fn().mockImplementationOnce(() => {
      throw reason;
    });
    expect(await rejectionOf(make({ onProgress }))).toBe(reason);
    expect(onProgress).toHaveBeenCalledTimes(1);
    expect(readdirSync(path())).not.toContain("holes.vhs");
    expect(leftovers(path())).toEqual([]);
  });

  test("discards the result if the signal fires just before the rename", async () => {
    for (const make of [
      (options: CreateOptions) => createSnapshot(image, path("late"), options),
      (options: ReadWorkOptions) => restoreSnapshot(snapshot, path("late"), options),
    ]) {
      const controller = new AbortController();
      const onProgress: CreateOptions["onProgress"] = ({ bytes, totalBytes }) => {
        if (bytes === totalBytes) controller.abort(reason);
      };
      expect(await rejectionOf(make({ signal: controller.signal, onProgress }))).toBe(reason);
      expect(readdirSync(path())).not.toContain("late");
      expect(leftovers(path())).toEqual([]);
    }
  });

  test("ignores a signal that fires after the restore", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    await restoreSnapshot(snapshot, path("restored"), { signal });
    controller.abort(reason);
    expect(readFileSync(path("restored")).equals(readFileSync(image))).toBe(true);
  });
});
