/** Saves of attached disks: hooks, intervals, failures, and what they promise. */
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { AttachedDisk, AttachOptions, DiskStore, UnsavedImage } from "@hedgerow/snapshot";
import { expect, onTestFinished, test, vi } from "vitest";

import { trials } from "../../../../tests/support/trials.js";
import { recordEvents } from "../support/events.js";
import { refusalOf } from "../support/refusal.js";
import {
  BLOCK,
  fillBlock,
  lettersOf,
  openHost,
  storePlace,
  whileAttached,
} from "../support/stores.js";

const at = storePlace("XFS");

/** Attaches a new disk until the test is done. */
async function attach(
  name: string,
  options: AttachOptions = {},
): Promise<{ store: DiskStore; disk: AttachedDisk }> {
  const store = await openHost(at, name);
  await store.create("a", { size: 4 * BLOCK });
  const disk = await store.attach("a", options);
  onTestFinished(() => disk.detach({ save: false }));
  return { store, disk };
}

/** Returns the blocks of the last generation, which a fork begins with. */
async function saved(store: DiskStore): Promise<string> {
  await store.fork("a", "saved");
  try {
    return await whileAttached(store, "saved", lettersOf);
  } finally {
    await store.remove("saved");
  }
}

test("a save has all earlier writes, and the disk can be used meanwhile", async () => {
  const { store, disk } = await attach("goes-on");
  const events = recordEvents("hedgerow:store:save");
  await fillBlock(disk, 0, "a");
  const saving = disk.save({ label: "first" });
  await saving;
  await fillBlock(disk, 1, "b");
  expect(await saved(store)).toBe("a...");
  const second = await disk.save();
  expect(second).toMatchObject({ number: 3, changedBytes: BLOCK });
  expect(second.pause).toBeLessThan(second.duration);
  expect(await saved(store)).toBe("ab..");
  expect(events).toMatchObject([
    { store: store.location, name: "a", generation: 2, changedBytes: BLOCK },
    { generation: 3, bytes: second.bytes, digest: second.digest },
  ]);
});

test("freezes before the changes are copied, and thaws before the save is stored", async () => {
  const calls: string[] = [];
  const { store, disk } = await attach("freeze", {
    // Data that a guest flushes while it is frozen is saved.
    freeze: async () => {
      calls.push("freeze");
      await fillBlock(disk, 1, "f");
    },
    thaw: async () => {
      calls.push("thaw");
      await fillBlock(disk, 2, "t");
    },
  });
  await fillBlock(disk, 0, "a");
  await disk.save();
  expect(calls).toEqual(["freeze", "thaw"]);
  expect(await saved(store)).toBe("af..");
  // A save has its own hooks, too.
  await disk.save({ freeze: () => calls.push("own"), thaw: () => {} });
  expect(calls).toEqual(["freeze", "thaw", "own"]);
  expect(await saved(store)).toBe("aft.");
});

test.each([
  ["freeze", "fails", () => Promise.reject(new Error("no agent"))],
  ["thaw", "fails", () => Promise.reject(new Error("no agent"))],
  ["freeze", "takes too long", () => new Promise(() => {})],
  ["thaw", "takes too long", () => new Promise(() => {})],
])(
  "if the hook %s %s, nothing is saved, the disk is thawed, and nothing is lost",
  async (name, how, hook) => {
    const { store, disk } = await attach(`${name}-${how.replaceAll(" ", "-")}`);
    const thaw = vi.fn();
    await fillBlock(disk, 0, "a");
    const hooks = { freeze: () => {}, thaw, hookTimeout: 50, [name]: hook };
    const { message } = await refusalOf(disk.save(hooks), "ERR_HOOK");
    expect(message).toContain(name);
    if (name === "freeze") expect(thaw).toHaveBeenCalledOnce();
    expect(await saved(store)).toBe("....");
    await fillBlock(disk, 1, "b");
    await disk.save();
    expect(await saved(store)).toBe("ab..");
  },
);

test("a save has the time limit that attach was given for hooks", async () => {
  const { disk } = await attach("limit", { freeze: () => new Promise(() => {}), hookTimeout: 50 });
  await fillBlock(disk, 0, "a");
  const { message } = await refusalOf(disk.save(), "ERR_HOOK");
  expect(message).toContain("50 ms");
});

test("aborts the signal of a hook that has taken too long", async () => {
  const { disk } = await attach("told");
  await fillBlock(disk, 0, "a");
  let reason: unknown;
  const freeze = (signal: AbortSignal) =>
    new Promise((resolve) => {
      signal.addEventListener("abort", () => {
        reason = signal.reason;
        resolve(undefined);
      });
    });
  const error = await refusalOf(disk.save({ freeze, hookTimeout: "20ms" }), "ERR_HOOK");
  expect(reason).toBe(error);
});

test("saves in intervals, if the disk has changed", async () => {
  const events = recordEvents("hedgerow:store:save");
  const { store, disk } = await attach("interval", { saveEvery: "1s" });
  await sleep(1_300);
  expect(events).toEqual([]);
  await fillBlock(disk, 0, "a");
  await vi.waitFor(() => expect(events).toHaveLength(1), 30_000);
  expect(await saved(store)).toBe("a...");
});

test("waits for an interval that is longer than a timer can take", async () => {
  const { store, disk } = await attach("long", { saveEvery: "30d" });
  await fillBlock(disk, 0, "a");
  await sleep(300);
  expect(await saved(store)).toBe("....");
});

test("an automatic save that fails is reported and tried again, and the disk stays in use", async () => {
  const events = recordEvents("hedgerow:store:save-failed");
  let isBroken = true;
  const freeze = () => {
    if (isBroken) throw new Error("no agent");
  };
  const { store, disk } = await attach("retry", { saveEvery: "1s", freeze });
  await fillBlock(disk, 0, "a");
  await vi.waitFor(() => expect(events.length).toBeGreaterThan(0), 30_000);
  expect(events[0]).toMatchObject({ store: store.location, name: "a", code: "ERR_HOOK" });
  await fillBlock(disk, 1, "b");
  isBroken = false;
  await vi.waitFor(() => expect(disk.generation.number).toBe(2), 30_000);
  expect(await saved(store)).toBe("ab..");
});

test("saves at the same time are made one after the other, and lose nothing", async () => {
  const { store, disk } = await attach("together");
  await fillBlock(disk, 0, "a");
  const first = disk.save();
  await fillBlock(disk, 1, "b");
  const results = await Promise.all([first, disk.save(), disk.save()]);
  expect(results.at(-1)?.number).toBe(disk.generation.number);
  expect(await saved(store)).toBe("ab..");
});

test("a disk that is detached while it is saved has all changes", async () => {
  const store = await openHost(at, "detach-saving");
  await store.create("a", { size: 4 * BLOCK });
  const disk = await store.attach("a");
  await fillBlock(disk, 0, "a");
  const saving = disk.save();
  await fillBlock(disk, 1, "b");
  await Promise.all([saving, disk.detach(), disk.detach()]);
  expect(await whileAttached(store, "a", lettersOf)).toBe("ab..");
});

test("a detach that fails leaves the disk attached, and the next one saves it", async () => {
  const store = await openHost(at, "detach-again");
  await store.create("a", { size: 4 * BLOCK });
  const disk = await store.attach("a");
  await fillBlock(disk, 0, "a");
  await refusalOf(disk.detach({ freeze: () => Promise.reject(new Error("busy")) }), "ERR_HOOK");
  expect((await store.stat("a")).attached).toBeDefined();
  await fillBlock(disk, 1, "b");
  await disk.listen({ port: 0 });
  await disk.detach();
  await refusalOf(disk.save(), "ERR_DISK_CLOSED");
  await refusalOf(disk.listen({ port: 0 }), "ERR_DISK_CLOSED");
  await refusalOf(disk.read(0, 1), "ERR_DISK_CLOSED");
  expect(await whileAttached(store, "a", lettersOf)).toBe("ab..");
});

test("a save that is called after detach is refused, and the disk counts as detached and not as lost", async () => {
  const { disk } = await attach("detached");
  await fillBlock(disk, 0, "a");
  let late: Promise<unknown> | undefined;
  const freeze = () => {
    late = refusalOf(disk.save({ label: "late" }), "ERR_DISK_CLOSED");
  };
  await disk.detach({ freeze });
  await late;
  expect(disk.lost.aborted).toBe(false);
});

test("writes while a disk is detached are saved, or its image stays", async () => {
  const store = await openHost(at, "detach-writing");
  await store.create("a", { size: 64 * BLOCK });
  const disk = await store.attach("a");
  await fillBlock(disk, 0, "a");
  const detaching = disk.detach().catch((error: unknown) => error);
  let acknowledged = 1;
  // Later ones are refused.
  const writing = (async () => {
    for (; acknowledged < 64; acknowledged += 1) {
      await fillBlock(disk, acknowledged, "a");
      await sleep(5);
    }
  })().catch(() => {});
  const failure = await detaching;
  await writing;
  const image = disk.image;
  const unsaved: UnsavedImage[] = [];
  for await (const one of store.unsaved()) unsaved.push(one);
  if (failure === undefined) {
    expect(unsaved).toEqual([]);
  } else {
    expect(failure).toMatchObject({ code: "ERR_DISK_CLOSED" });
    expect(unsaved).toMatchObject([{ image, name: "a" }]);
    await store.recover(image, "recovered");
  }
  const letters = await whileAttached(store, failure ? "recovered" : "a", lettersOf);
  expect(letters.slice(0, acknowledged)).toBe("a".repeat(acknowledged));
});

test("a save into a store that fails loses nothing", async () => {
  const { store, disk } = await attach("store-fails");
  await fillBlock(disk, 0, "a");
  const folder = at.folder("store-fails");
  const failing = `${folder}/snapshots`;
  // Root may write everywhere, but not into a folder that is away.
  renameSync(failing, `${failing}-away`);
  await refusalOf(disk.save(), "ERR_STORE");
  renameSync(`${failing}-away`, failing);
  await disk.save();
  expect(await saved(store)).toBe("a...");
});

test("a generation has the trace of what was read first", async () => {
  const { store, disk } = await attach("trace");
  await disk.read(0, BLOCK);
  await fillBlock(disk, 0, "a");
  const { source } = await disk.save();
  const trace = JSON.parse(readFileSync(`${source}.trace`, "utf8"));
  expect(trace).toEqual({ version: 1, ranges: [[0, 4 * BLOCK]] });
  rmSync(`${source}.trace`);
  // Without it, everything works, too.
  expect(await saved(store)).toBe("a...");
});

test("a generation without a trace gets that of the next attachment, even if nothing is saved", async () => {
  const { store, disk } = await attach("first-trace");
  await disk.detach();
  const again = await store.attach("a");
  await again.read(BLOCK, BLOCK);
  await again.detach({ save: false });
  const { source } = (await store.stat("a")).last;
  const first = readFileSync(`${source}.trace`, "utf8");
  expect(JSON.parse(first)).toEqual({ version: 1, ranges: [[0, 4 * BLOCK]] });
  // The first one stays.
  const third = await store.attach("a");
  await third.detach();
  expect(readFileSync(`${source}.trace`, "utf8")).toBe(first);
});

test("a save is aborted by its signal, and loses nothing", async () => {
  const { store, disk } = await attach("abort");
  await fillBlock(disk, 0, "a");
  const reason = new Error("enough");
  const saving = disk.save({ signal: AbortSignal.abort(reason) });
  await expect(saving).rejects.toBe(reason);
  await disk.save();
  expect(await saved(store)).toBe("a...");
});

test("a save that is aborted while the disk is frozen thaws it, and loses nothing", async () => {
  const thaw = vi.fn();
  const { store, disk } = await attach("abort-frozen");
  await fillBlock(disk, 0, "a");
  const [controller, reason] = [new AbortController(), new Error("enough")];
  const freeze = (signal: AbortSignal) => {
    queueMicrotask(() => controller.abort(reason));
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(reason)));
  };
  const saving = disk.save({ freeze, thaw, signal: controller.signal });
  await expect(saving).rejects.toBe(reason);
  expect(thaw).toHaveBeenCalledOnce();
  await disk.save();
  expect(await saved(store)).toBe("a...");
});

test("after a thousand generations, each save removes the oldest one that is not attached", async () => {
  const store = await openHost(at, "thousand");
  await store.create("a", { size: BLOCK });
  const disk = await store.attach("a");
  await disk.save({ label: "2" });
  // `npm run verify` saves them all, and `npm test` the last ones.
  const first = 1_002 - trials({ few: 3, all: 999 });
  repeatLast(`${at.folder("thousand")}/disks/a`, first);
  for (let count = first; count <= 1_001; count += 1) await disk.save({ label: String(count) });
  const numbers = [];
  for await (const { number } of store.history("a")) numbers.push(number);
  expect(numbers).toHaveLength(1_000);
  // The first one is attached.
  expect([numbers[0], numbers[1], numbers.at(-1)]).toEqual([1, 3, 1_001]);
  await disk.detach();
});

test("generations that the pointer has no room for are removed, except the one that is attached", async () => {
  const store = await openHost(at, "no-room");
  const metadata = "x".repeat(4_000);
  await store.create("a", { size: BLOCK, metadata });
  const disk = await store.attach("a");
  await disk.save({ label: "2", metadata });
  repeatLast(`${at.folder("no-room")}/disks/a`, 505);
  await disk.save({ label: "last", metadata });
  const numbers = [];
  for await (const { number } of store.history("a")) numbers.push(number);
  expect([numbers[0], numbers.at(-1)]).toEqual([1, 505]);
  expect(numbers[1]).toBeGreaterThan(2);
  await disk.detach();
  expect(await whileAttached(store, "a", lettersOf)).toBe(".");
});

/** Repeats the last generation of a disk, as saves would, up to a number. */
function repeatLast(pointer: string, end: number): void {
  const { generations, ...others } = JSON.parse(readFileSync(pointer, "utf8"));
  const last = generations.at(-1);
  for (let number = last.number + 1; number < end; number += 1)
    generations.push({ ...last, number, label: String(number) });
  writeFileSync(pointer, JSON.stringify({ ...others, generations, next: end }));
}
