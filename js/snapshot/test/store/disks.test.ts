/** Named disks: in folders on ext4 and XFS, and in S3. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSnapshot, type Generation, restoreSnapshot } from "@hedgerow/snapshot";
import { describe, expect, test } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { openCache } from "../support/cache.js";
import { refusalOf } from "../support/refusal.js";
import {
  age,
  BLOCK,
  fillBlock,
  KINDS,
  type Kind,
  lettersOf,
  objectsIn,
  openHost,
  storePlace,
  whileAttached,
} from "../support/stores.js";

const DAY = 86_400;
const path = temporaryFolder();

/** Returns all items. */
async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
}

const numbersOf = (generations: readonly Generation[]) => generations.map(({ number }) => number);

/** How many of the kinds of places each test runs in. With one, the tests take turns. */
const PLACES = trials({ few: 1, all: KINDS.length });

/** Returns a function that makes a test, if it is its turn in this kind of place. */
function testsInTurn(kind: Kind) {
  let turn = KINDS.indexOf(kind);
  return (title: string, run: () => Promise<void>) => {
    if (turn % KINDS.length < PLACES) test(title, run);
    turn += 1;
  };
}

describe.each(KINDS)("in %s", (kind) => {
  const at = storePlace(kind);
  const inTurn = testsInTurn(kind);

  inTurn(
    "a disk that was detached has the same content when another host attaches it",
    async () => {
      const [one, two] = [await openHost(at, "move"), await openHost(at, "move")];
      await one.create("a", { size: 4 * BLOCK });
      await whileAttached(one, "a", (disk) => fillBlock(disk, 1, "x"));
      await whileAttached(two, "a", async (disk) => {
        expect(await lettersOf(disk)).toBe(".x..");
        await fillBlock(disk, 2, "y");
      });
      expect(await whileAttached(one, "a", lettersOf)).toBe(".xy.");
      expect(numbersOf(await all(one.history("a")))).toEqual([1, 2, 3]);
    },
  );

  inTurn(
    "every method rejects with the reason of an aborted signal, and does nothing",
    async () => {
      const store = await openHost(at, "aborted");
      await store.create("a", { size: BLOCK });
      const reason = new Error("aborted");
      const options = { signal: AbortSignal.abort(reason) };
      const calls: Record<string, () => Promise<unknown>> = {
        create: () => store.create("b", { ...options, size: BLOCK }),
        attach: () => store.attach("a", options),
        fork: () => store.fork("a", "b", options),
        rollback: () => store.rollback("a", 1, options),
        history: () => all(store.history("a", options)),
        list: () => all(store.list(options)),
        stat: () => store.stat("a", options),
        expire: () => store.expire({ ...options, keepLast: 1 }),
        collect: () => store.collect(options),
        explain: () => store.explain("0".repeat(64), options),
        remove: () => store.remove("a", options),
        verify: () => store.verify("a", options),
        recover: () => store.recover(path("none"), "b", options),
      };
      for (const [name, call] of Object.entries(calls)) {
        const found = await call().catch((error: unknown) => error);
        expect(found, name).toBe(reason);
      }
      expect(await all(store.list())).toEqual(["a"]);
      expect(await store.stat("a")).toMatchObject({ generations: 1, attached: undefined });
    },
  );

  inTurn("detaching a disk that was not changed adds no generation", async () => {
    const store = await openHost(at, "unchanged");
    await store.create("a", { size: BLOCK });
    await whileAttached(store, "a", async (disk) => {
      await disk.read(0, BLOCK);
      expect((await disk.save()).number).toBe(1);
    });
    expect(await all(store.history("a"))).toHaveLength(1);
    // With a label, the same snapshot gets another one.
    await whileAttached(store, "a", (disk) => disk.save({ label: "checked" }));
    const [first, second] = await all(store.history("a"));
    expect(second).toMatchObject({ number: 2, label: "checked", digest: first?.digest });
  });

  inTurn("a disk begins with a snapshot, a delta, an image or zeros", async () => {
    const store = await openHost(at, "content");
    const image = noise("content", 8 * BLOCK);
    writeFileSync(path("image"), image);
    const { digest } = await createSnapshot(path("image"), path("a.vhs"), { pieceSize: BLOCK });
    const other = Buffer.from(image).fill("z", BLOCK, 2 * BLOCK);
    writeFileSync(path("other"), other);
    const delta = await createSnapshot(path("other"), path("b.vhs"), { base: path("a.vhs") });

    await store.create("snapshot", { from: path("a.vhs"), digest, label: "base" });
    const made = await store.create("delta", { from: path("b.vhs") });
    await store.create("image", { image: path("image"), pieceSize: BLOCK });
    await store.create("zeros", { size: 3 * BLOCK + 1 });

    const read = (name: string) => whileAttached(store, name, (disk) => disk.read(0, disk.size));
    expect((await read("snapshot")).equals(image)).toBe(true);
    expect((await read("delta")).equals(other)).toBe(true);
    expect((await read("image")).equals(image)).toBe(true);
    expect(await read("zeros")).toEqual(Buffer.alloc(3 * BLOCK + 1));
    expect((await all(store.history("snapshot")))[0]).toMatchObject({ label: "base", digest });
    // The same content is stored once.
    expect((await store.stat("image")).last.digest).toBe(digest);
    expect(made).toMatchObject({ digest: delta.digest, bytes: delta.fileSize });
    expect(made.totalBytes).toBeGreaterThan(made.bytes);
    await refusalOf(
      store.create("other", { from: path("a.vhs"), digest: delta.digest }),
      "ERR_SNAPSHOT_DIGEST",
    );
    await refusalOf(store.stat("other"), "ERR_NO_DISK");
  });

  inTurn(
    "a damaged snapshot is not copied into the store, where other disks would use it",
    async () => {
      const store = await openHost(at, "damaged-copy");
      const image = noise("damaged", 8 * BLOCK);
      writeFileSync(path("image"), image);
      await createSnapshot(path("image"), path("damaged.vhs"), { pieceSize: BLOCK });
      const bytes = readFileSync(path("damaged.vhs"));
      bytes[bytes.length >> 1]! ^= 1;
      writeFileSync(path("damaged.vhs"), bytes);
      await refusalOf(store.create("a", { from: path("damaged.vhs") }), "ERR_SNAPSHOT_FORMAT");
      await store.create("a", { image: path("image"), pieceSize: BLOCK });
      const found = await whileAttached(store, "a", (disk) => disk.read(0, disk.size));
      expect(found.equals(image)).toBe(true);
    },
  );

  inTurn("a snapshot of a store restores without the store", async () => {
    const store = await openHost(at, "restore");
    writeFileSync(path("restored-from"), noise("restore", 8 * BLOCK));
    await store.create("a", { image: path("restored-from"), pieceSize: BLOCK });
    await whileAttached(store, "a", (disk) => fillBlock(disk, 1, "x"));
    const { source, digest } = (await store.stat("a")).last;
    // The references in the delta lead to its base.
    const { delta } = await restoreSnapshot(source, path("restored"), { digest, ...at.options });
    expect(delta?.objects).toHaveLength(1);
  });

  inTurn("a disk that is attached cannot be attached, rolled back or removed", async () => {
    const one = await openHost(at, "exclusive", { owner: "host one" });
    const two = await openHost(at, "exclusive");
    await one.create("a", { size: BLOCK });
    const disk = await one.attach("a");
    expect((await two.stat("a")).attached).toEqual({ owner: "host one", epoch: 1 });
    const { message } = await refusalOf(two.attach("a"), "ERR_ATTACHED");
    expect(message).toBe(
      "a is attached by host one; wait until it is detached, or pass steal: true to take it",
    );
    await refusalOf(two.rollback("a", 1), "ERR_ATTACHED");
    await refusalOf(two.remove("a"), "ERR_ATTACHED");
    await disk.detach();
    expect((await two.stat("a")).attached).toBeUndefined();
    await two.remove("a");
    await refusalOf(one.attach("a"), "ERR_NO_DISK");
  });

  inTurn(
    "a disk that was stolen is not overwritten, and its image is recovered as a new disk",
    async () => {
      const [one, two] = [await openHost(at, "steal"), await openHost(at, "steal")];
      await one.create("a", { size: 2 * BLOCK });
      const disk = await one.attach("a");
      await fillBlock(disk, 0, "1");
      const stolen = await two.attach("a", { steal: true });
      expect(stolen.epoch).toBe(2);
      await fillBlock(stolen, 0, "2");
      await stolen.save();
      const { message } = await refusalOf(disk.save(), "ERR_LEASE_LOST");
      expect(message).toContain("recover");
      expect(disk.lost.aborted).toBe(true);
      // It is still there for its programs.
      await fillBlock(disk, 1, "1");
      await refusalOf(disk.detach(), "ERR_LEASE_LOST");
      await stolen.detach();
      expect(await whileAttached(two, "a", lettersOf)).toBe("2.");

      const [left, ...others] = await all(one.unsaved());
      expect(others).toEqual([]);
      expect(left).toMatchObject({ name: "a", generation: 1, changedBytes: 2 * BLOCK });
      await refusalOf(one.recover(left?.image ?? "", "a"), "ERR_DISK_EXISTS");
      const recovered = await one.recover(left?.image ?? "", "b");
      expect(recovered.parent).toEqual({ name: "a", generation: 1 });
      expect(await whileAttached(two, "b", lettersOf)).toBe("11");
      expect(await all(one.unsaved())).toEqual([]);
    },
  );

  inTurn("detaching without saving discards the changes", async () => {
    const store = await openHost(at, "discard");
    await store.create("a", { size: BLOCK });
    const disk = await store.attach("a");
    await fillBlock(disk, 0, "x");
    await disk.detach({ save: false });
    expect(await whileAttached(store, "a", lettersOf)).toBe(".");
  });

  inTurn("forks begin with a generation of their parent, and diverge", async () => {
    const store = await openHost(at, "fork");
    await store.create("a", { size: 2 * BLOCK });
    await whileAttached(store, "a", (disk) => fillBlock(disk, 0, "a"));
    const parent = await store.attach("a");
    await fillBlock(parent, 1, "?");
    const before = objectsIn(at.folder("fork")).filter((name) => name.startsWith("snapshots"));
    await store.fork("a", ["b", "c"]);
    await store.fork("a", "d", { generation: 1 });
    expect(objectsIn(at.folder("fork")).filter((name) => name.startsWith("snapshots"))).toEqual(
      before,
    );
    await whileAttached(store, "b", (disk) => fillBlock(disk, 1, "b"));
    await parent.detach();
    const letters = async (name: string) => whileAttached(store, name, lettersOf);
    expect(await Promise.all(["a", "b", "c", "d"].map(letters))).toEqual(["a?", "ab", "a.", ".."]);
    expect((await all(store.history("c")))[0]?.parent).toEqual({ name: "a", generation: 2 });
    expect((await store.stat("c")).ownBytes).toBe(0);
    expect((await store.stat("b")).ownBytes).toBeGreaterThan(0);
  });

  inTurn("if the name of a fork is in use, no fork is created", async () => {
    const store = await openHost(at, "fork-some");
    await store.create("a", { size: BLOCK });
    await refusalOf(store.fork("a", ["b", "a", "c"]), "ERR_DISK_EXISTS");
    await refusalOf(store.fork("a", ["b"], { generation: 7 }), "ERR_NO_DISK");
    await refusalOf(store.fork("none", ["b"]), "ERR_NO_DISK");
    expect(await all(store.list())).toEqual(["a"]);
  });

  inTurn("a rollback adds an earlier generation, and removes none", async () => {
    const store = await openHost(at, "rollback");
    await store.create("a", { size: BLOCK });
    for (const letter of ["x", "y"])
      await whileAttached(store, "a", (disk) => fillBlock(disk, 0, letter));
    expect((await store.rollback("a", 2)).number).toBe(4);
    expect(await whileAttached(store, "a", lettersOf)).toBe("x");
    await store.rollback("a", 3);
    expect(await whileAttached(store, "a", lettersOf)).toBe("y");
    await refusalOf(store.rollback("a", 9), "ERR_NO_DISK");
  });

  inTurn(
    "a generation of which an object is missing is not rolled back to, nor forked",
    async () => {
      const store = await openHost(at, "rollback-missing");
      await store.create("a", { size: 3 * BLOCK });
      for (const [block, letter] of [..."xyz"].entries())
        await whileAttached(store, "a", (disk) => fillBlock(disk, block, letter));
      const generations = await all(store.history("a"));
      // The snapshot of the second generation is a base object of the third one.
      const { digest } = generations[1] as Generation;
      rmSync(join(at.folder("rollback-missing"), "snapshots", `${digest}.vhs`));
      for (const generation of [2, 3]) {
        const rolling = refusalOf(store.rollback("a", generation), "ERR_STORE");
        expect((await rolling).message).toContain(digest);
        const forking = refusalOf(store.fork("a", "b", { generation }), "ERR_STORE");
        expect((await forking).message).toContain(digest);
      }
      expect(numbersOf(await all(store.history("a")))).toEqual([1, 2, 3, 4]);
      await store.rollback("a", 1);
      expect(await whileAttached(store, "a", lettersOf)).toBe("...");
    },
  );

  inTurn("a disk is not saved relative to a snapshot that the store has lost", async () => {
    const [images, folder] = [at.images(), at.folder("save-missing")];
    const cache = await openCache(path(`cache-${kind}`));
    const store = await openHost(at, "save-missing", { images, cache });
    await store.create("a", { size: 2 * BLOCK });
    await whileAttached(store, "a", (disk) => fillBlock(disk, 0, "x"));
    const { source, digest } = (await store.stat("a")).last;
    await (await cache.get(source, { ...at.options, digest, workers: 1 })).release();
    rmSync(join(folder, "snapshots", `${digest}.vhs`));
    // Its image is in the cache.
    const disk = await store.attach("a");
    await fillBlock(disk, 1, "y");
    for (const call of [() => disk.save(), () => disk.detach()])
      expect((await refusalOf(call(), "ERR_STORE")).message).toContain(digest);
    expect(await lettersOf(disk)).toBe("xy");
    expect(numbersOf(await all(store.history("a")))).toEqual([1, 2]);
    await disk.detach({ save: false });
  });

  inTurn("lists names in order, after a name, and with a prefix", async () => {
    const store = await openHost(at, "list");
    const names = ["a", "a-1", "a.b", "a_", "b", "z9"];
    await store.create("a", { size: BLOCK });
    await store.fork("a", names.slice(1));
    expect(await all(store.list())).toEqual(names);
    expect(await all(store.list({ after: "a.b" }))).toEqual(["a_", "b", "z9"]);
    expect(await all(store.list({ prefix: "a" }))).toEqual(names.slice(0, 4));
    expect(await all(store.list({ prefix: "a", after: "a-1" }))).toEqual(["a.b", "a_"]);
  });

  inTurn(
    "generations expire by count and age, except the last, forked and attached ones",
    async () => {
      const store = await openHost(at, "expire");
      await store.create("a", { size: BLOCK });
      for (const letter of "bcdef")
        await whileAttached(store, "a", (disk) => fillBlock(disk, 0, letter));
      await store.fork("a", "fork", { generation: 3 });
      const disk = await store.attach("a");
      await fillBlock(disk, 0, "g");
      await disk.save();
      await disk.save({ label: "last" });
      const expired = (generations: number[]) =>
        generations.map((generation) => ({ name: "a", generation }));
      expect(await store.expire({ olderThan: "1d" })).toEqual([]);
      expect(await store.expire({ keepLast: 9, olderThan: 0 })).toEqual([]);
      expect(await store.expire({ keepLast: 4, dryRun: true })).toEqual(expired([1, 2, 4]));
      expect(await store.expire({ keepLast: 5 })).toEqual(expired([1, 2]));
      // The host reads generation 6.
      expect(await store.expire({ name: "a", keepLast: 1 })).toEqual(expired([4, 5, 7]));
      expect(numbersOf(await all(store.history("a")))).toEqual([3, 6, 8]);
      expect(await lettersOf(disk)).toBe("g");
      await disk.detach();
      expect(await store.expire({ keepLast: 1 })).toEqual(expired([6]));
      expect(await whileAttached(store, "fork", lettersOf)).toBe("c");
      await refusalOf(store.expire({ name: "none", keepLast: 1 }), "ERR_NO_DISK");
    },
  );

  inTurn("a collection deletes unneeded snapshots when the grace period is over", async () => {
    const store = await openHost(at, "collect");
    const folder = at.folder("collect");
    await store.create("a", { size: BLOCK });
    for (const letter of "bc")
      await whileAttached(store, "a", (disk) => fillBlock(disk, 0, letter));
    const { digest: kept } = (await store.stat("a")).last;
    await store.expire({ keepLast: 1 });
    expect(await store.collect({ dryRun: true })).toMatchObject({
      snapshots: 3,
      marked: 2,
      deleted: [],
    });
    expect(objectsIn(folder).filter((name) => name.startsWith("tombstones"))).toEqual([]);
    expect(await store.collect()).toMatchObject({ snapshots: 3, marked: 2, deleted: [] });
    expect(await store.collect()).toMatchObject({ snapshots: 3, marked: 2, deleted: [] });
    age(folder, DAY + 2);
    expect((await store.collect({ dryRun: true })).deleted).toHaveLength(2);
    const { deleted, bytes } = await store.collect();
    expect(deleted).toHaveLength(2);
    expect(bytes).toBe(deleted.reduce((sum, one) => sum + one.bytes, 0));
    const left = objectsIn(folder).filter((name) => /^(snap|tomb)/.test(name));
    expect(left.map((name) => name.replace(/\.trace$/, ""))).toContain(`snapshots/${kept}.vhs`);
    expect(left.every((name) => name.includes(kept))).toBe(true);
    expect(await whileAttached(store, "a", lettersOf)).toBe("c");
  });

  inTurn("a snapshot that is referred to again is not deleted", async () => {
    const store = await openHost(at, "again");
    await store.create("a", { size: BLOCK });
    await store.remove("a");
    await store.collect();
    age(at.folder("again"), DAY + 2);
    // The same content: its tombstone is old enough.
    await store.create("b", { size: BLOCK });
    expect((await store.collect()).deleted).toEqual([]);
    expect(objectsIn(at.folder("again")).filter((name) => name.startsWith("tombstones"))).toEqual(
      [],
    );
    expect(await whileAttached(store, "b", lettersOf)).toBe(".");
  });

  inTurn("lists the generations that need a snapshot, with its size", async () => {
    const store = await openHost(at, "explain");
    writeFileSync(path("explained"), noise("explained", 8 * BLOCK));
    const { digest, bytes } = await store.create("a", { image: path("explained") });
    await whileAttached(store, "a", (disk) => fillBlock(disk, 0, "x"));
    await store.fork("a", "b");
    expect(await store.explain(digest)).toEqual({
      ...{ digest, bytes },
      references: [
        { name: "a", generation: 1, as: "snapshot" },
        { name: "a", generation: 2, as: "base" },
        { name: "b", generation: 1, as: "base" },
      ],
    });
    const none = "0".repeat(64);
    expect(await store.explain(none)).toEqual({ digest: none, bytes: undefined, references: [] });
  });

  inTurn("verifies every byte of a generation, and the sizes of all snapshots", async () => {
    const store = await openHost(at, "verify");
    writeFileSync(path("verified"), noise("verified", 8 * BLOCK));
    await store.create("a", { image: path("verified") });
    const disk = await store.attach("a", { fill: "none" });
    await fillBlock(disk, 0, "x");
    await disk.detach();
    expect(await store.verify("a")).toMatchObject({ number: 2 });
    expect(await store.verify("a", { generation: 1 })).toMatchObject({ number: 1 });
    const [first] = await all(store.history("a"));
    const file = `${at.folder("verify")}/snapshots/${first?.digest}.vhs`;
    writeFileSync(file, "damaged");
    await refusalOf(store.verify("a"), "ERR_STORE");
  });

  inTurn(
    "opening a place that is no store leaves nothing there, if it must not become one",
    async () => {
      mkdirSync(at.folder("no-store"), { recursive: true, mode: 0o700 });
      await refusalOf(openHost(at, "no-store", { create: false }), "ERR_STORE");
      expect(objectsIn(at.folder("no-store"))).toEqual([]);
    },
  );

  inTurn("an image that is in use is not discarded", async () => {
    const store = await openHost(at, "in-use");
    await store.create("a", { size: BLOCK });
    await whileAttached(store, "a", async (disk) => {
      await fillBlock(disk, 0, "x");
      expect(await all(store.unsaved())).toEqual([]);
      await refusalOf(store.discard(disk.image), "ERR_TARGET");
      await refusalOf(store.recover(disk.image, "b"), "ERR_TARGET");
    });
    expect(await whileAttached(store, "a", lettersOf)).toBe("x");
  });

  inTurn("a disk is forked, expired and collected while it is attached, and goes on", async () => {
    const store = await openHost(at, "meanwhile");
    await store.create("a", { size: 2 * BLOCK });
    await whileAttached(store, "a", async (disk) => {
      for (const letter of "xy") {
        await fillBlock(disk, 0, letter);
        await disk.save();
      }
      await store.expire({ keepLast: 1 });
      await store.collect();
      await store.fork("a", "fork");
      await fillBlock(disk, 1, "z");
    });
    expect(await whileAttached(store, "a", lettersOf)).toBe("yz");
    expect(await whileAttached(store, "fork", lettersOf)).toBe("y.");
  });

  test("a disk is saved and detached after its store was closed", async () => {
    const [images, other] = [at.images(), await openHost(at, "closed")];
    const store = await openHost(at, "closed", { images });
    await store.create("a", { size: 2 * BLOCK });
    const disk = await store.attach("a");
    await store.close();
    const calls = [
      () => store.stat("a"),
      () => store.attach("a"),
      () => all(store.list()),
      () => all(store.unsaved()),
    ];
    for (const call of calls)
      expect((await refusalOf(call(), "ERR_STORE")).message).toContain("the store was closed");
    await fillBlock(disk, 0, "x");
    expect((await disk.save()).number).toBe(2);
    await fillBlock(disk, 1, "y");
    await disk.detach();
    expect(readdirSync(images)).toEqual(["lock"]);
    expect(await whileAttached(other, "a", lettersOf)).toBe("xy");
  });

  inTurn("leaves nothing behind locally or in the store when all disks are detached", async () => {
    const images = at.images();
    const store = await openHost(at, "tidy", { images });
    await store.create("a", { size: BLOCK });
    await whileAttached(store, "a", (disk) => fillBlock(disk, 0, "x"));
    expect(readdirSync(images)).toEqual(["lock"]);
    const kinds = new Set(objectsIn(at.folder("tidy")).map((name) => name.split("/")[0]));
    kinds.delete("lock");
    expect([...kinds].sort()).toEqual(["disks", "hedgerow-disks.json", "snapshots"]);
  });
});
