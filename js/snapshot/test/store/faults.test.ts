/** Hosts that lose their disks, clocks that are wrong, networks that fail, and hosts that compete. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type AttachedDisk,
  DiskStore,
  type FileVolume,
  ImageCache,
  type StoreOptions,
} from "@hedgerow/snapshot";
import { expect, onTestFinished, test, vi } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { agedLease, isAttached } from "../../dist/store/lease.js";
import type { Pointer } from "../../dist/store/pointer.js";
import type { KnownPointer, Pointers } from "../../dist/store/pointers.js";
import { textsIn } from "../support/error-texts.js";
import { recordEvents } from "../support/events.js";
import { type Condition, startFakeS3 } from "../support/fake-s3.js";
import { StoreProcess } from "../support/store-process.js";
import { StoreWire, type WireFault } from "../support/store-wire.js";
import { openStore } from "../support/stores.js";
import { s3 } from "../support/upload-s3.js";

const HOUR = 3_600_000;

/** How many hosts compete for a disk. */
const HOSTS = trials({ few: 4, all: 8 });

const [SIZE, PIECE] = [2 ** 16, 4_096];

/** For hosts that are cut off for longer than their lease. Others have the default, which no slow machine exceeds. */
const SHORT = { lease: 1_000 };

/** For hosts that renew their lease in time, on a slow machine as well. */
const RENEWED = { lease: 3_000 };

/** Longer than these leases, with the second by which times of a store are rounded. */
const longerThan = ({ lease }: { readonly lease: number }) => sleep(lease + 2_000);

/** Repeats a call until the lease of another host is over. */
const whenFree = <T>(call: () => Promise<T>) =>
  vi.waitFor(call, { timeout: 50_000, interval: 100 });

const path = temporaryFolder();
let count = 0;

/** Returns a place for a store in S3 that no other test uses. */
function newPlace(): string {
  count += 1;
  return `s3://${s3.bucket}/faults-${count}`;
}

/** Returns the options of a host in S3, with a directory of its own for images. */
function optionsOf(host: string, endpoint: URL = s3.endpoint): StoreOptions {
  const { credentials, region } = s3;
  count += 1;
  return {
    ...{ images: path(`${host}-${count}`), owner: host, retries: 2 },
    partSize: 5 * 2 ** 20,
    s3: { endpoint: endpoint.href, credentials, region },
  };
}

async function open(place: string, options: StoreOptions): Promise<DiskStore> {
  const store = await openStore(place, options);
  onTestFinished(() => store.close());
  return store;
}

/** Opens a store for a host behind a network that can be cut. */
async function openBehindWire(
  place: string,
  host: string,
  faultOf: (method: string, url: string) => WireFault | undefined = () => undefined,
  options: StoreOptions = {},
): Promise<{ readonly store: DiskStore; readonly wire: StoreWire }> {
  const wire = await StoreWire.open(s3.endpoint, ({ method = "", url = "" }) =>
    faultOf(method, url),
  );
  onTestFinished(() => wire[Symbol.asyncDispose]());
  return { wire, store: await open(place, { ...optionsOf(host, wire.endpoint), ...options }) };
}

const text = (letter: string) => Buffer.alloc(PIECE, letter);

/** Creates a disk, and attaches it on a host. */
async function attachNew(store: DiskStore, name: string): Promise<AttachedDisk> {
  await store.create(name, { size: SIZE, pieceSize: PIECE });
  return store.attach(name);
}

/** Returns the first bytes of a disk, attached anew. */
async function contentOf(store: DiskStore, name: string): Promise<string> {
  const disk = await store.attach(name);
  const bytes = await disk.read(0, PIECE);
  await disk.detach({ save: false });
  return bytes.toString("latin1", 0, 1);
}

/** Detaches a disk that was lost, and saves its image as a fork. */
async function recover(store: DiskStore, disk: AttachedDisk, name: string): Promise<void> {
  await expect(disk.detach()).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
  const unsaved = [];
  for await (const image of store.unsaved()) unsaved.push(image);
  expect(unsaved).toMatchObject([{ image: disk.image, name: disk.name }]);
  await store.recover(disk.image, name);
}

const LOST = /alice is attached by bob: nothing more can be saved under this name; recover/;

test("a host that is cut off for longer than its lease can no longer save, and loses nothing", async () => {
  const place = newPlace();
  const { store, wire } = await openBehindWire(place, "anna", undefined, SHORT);
  const lost = recordEvents("hedgerow:store:lost");
  const disk = await attachNew(store, "alice");
  await disk.write(0, text("a"));
  const saved = await disk.save();
  wire.cut();
  await disk.write(0, text("b"));
  await expect(disk.save()).rejects.toMatchObject({
    code: /^ERR_(STORE|TARGET|SOURCE)$/,
  });
  const other = await open(place, optionsOf("bob"));
  const taken = await whenFree(() => other.attach("alice"));
  expect(taken.epoch).toBe(2);
  expect(taken.generation).toMatchObject({ number: saved.number, digest: saved.digest });
  wire.mend();
  await expect(disk.save()).rejects.toMatchObject({
    code: "ERR_LEASE_LOST",
    message: expect.stringMatching(LOST),
  });
  expect(disk.lost.aborted).toBe(true);
  expect(lost).toMatchObject([{ name: "alice", owner: "anna" }]);
  await taken.write(0, text("c"));
  await taken.detach();
  await recover(store, disk, "alice-of-anna");
  expect(await contentOf(other, "alice")).toBe("c");
  expect(await contentOf(other, "alice-of-anna")).toBe("b");
});

test("a host that was cut off for longer than its lease goes on if no other has taken the disk", async () => {
  const { store, wire } = await openBehindWire(newPlace(), "anna", undefined, SHORT);
  const disk = await attachNew(store, "alice");
  wire.cut();
  await disk.write(0, text("a"));
  await longerThan(SHORT);
  wire.mend();
  expect(await disk.save()).toMatchObject({ number: 2 });
  await disk.detach();
  expect(await contentOf(store, "alice")).toBe("a");
});

test("a host that changes the pointer of a disk does not prolong the lease of another host", async () => {
  const lease = { token: "", owner: "anna", duration: 3_000, elapsed: 2_000, generation: 1 };
  const known = { pointer: { lease }, modified: 9_500 } as KnownPointer;
  const objects = { leasesExpire: true, now: async () => 10_000 };
  const pointers = { objects } as unknown as Pointers;
  const aged = await agedLease(pointers, known);
  expect(aged).toEqual({ ...lease, elapsed: 2_500 });
  // It ends after 500 milliseconds more.
  const pointer = { lease: aged } as Pointer;
  const isHeld = [9_501, 9_500].map((modified) =>
    isAttached(pointers, { ...known, pointer, modified }),
  );
  expect(await Promise.all(isHeld)).toEqual([true, false]);
});

test("a host learns that its disk was stolen before it saves", async () => {
  const place = newPlace();
  const store = await open(place, { ...optionsOf("anna"), ...SHORT });
  const disk = await attachNew(store, "alice");
  const stolen = await (await open(place, optionsOf("bob"))).attach("alice", { steal: true });
  await expect.poll(() => disk.lost.aborted, { timeout: 20_000 }).toBe(true);
  await disk.detach();
  expect(existsSync(disk.image)).toBe(false);
  await stolen.detach();
});

test("a disk that was removed or rolled back while its host was cut off can be recovered", async () => {
  const place = newPlace();
  const { store, wire } = await openBehindWire(place, "anna", undefined, SHORT);
  const other = await open(place, optionsOf("bob"));
  const [alice, bella] = [await attachNew(store, "alice"), await attachNew(store, "bella")];
  for (const disk of [alice, bella]) await disk.write(0, text("a"));
  wire.cut();
  await whenFree(() => other.remove("alice"));
  await whenFree(() => other.rollback("bella", 1));
  wire.mend();
  await expect(alice.save()).rejects.toMatchObject({
    code: "ERR_LEASE_LOST",
    message: expect.stringMatching(/^alice was removed: .* recover/),
  });
  await expect(bella.save()).rejects.toMatchObject({
    code: "ERR_LEASE_LOST",
    message: expect.stringMatching(/^bella was attached or rolled back by another host: /),
  });
  await recover(store, alice, "alice-of-anna");
  await recover(store, bella, "bella-of-anna");
  for (const name of ["alice-of-anna", "bella-of-anna"])
    expect(await contentOf(other, name)).toBe("a");
});

test.each([HOUR, -HOUR].slice(0, trials({ few: 1, all: 2 })))(
  "a clock that is wrong by %i ms neither ends a lease nor keeps a lost one",
  async (clock) => {
    const place = newPlace();
    const wrong = new StoreProcess(clock);
    onTestFinished(() => wrong.ended());
    const theirs = await wrong.open(place, { ...optionsOf("bob"), ...RENEWED });
    const store = await open(place, optionsOf("anna"));
    const disk = await attachNew(store, "alice");
    // The lease of another host is not over for it.
    await expect(theirs.attach("alice")).rejects.toMatchObject({ code: "ERR_ATTACHED" });
    // Nor does it delete what was stored just now.
    await store.create("bella", { image: imageOf("bella") });
    await store.remove("bella");
    for (let times = 0; times < 2; times += 1)
      expect(await theirs.collect({ grace: "30m" })).toMatchObject({ deleted: [], marked: 1 });
    // The epoch decides who may save.
    const stolen = await theirs.attach("alice", { steal: true });
    expect(stolen.epoch).toBe(2);
    await disk.write(0, text("a"));
    await expect(disk.save()).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
    // It renews its own lease in time.
    await longerThan(RENEWED);
    await expect(store.attach("alice")).rejects.toMatchObject({ code: "ERR_ATTACHED" });
    await stolen.write(0, text("b"));
    const { time } = await stolen.save();
    expect(Math.abs(new Date(time).getTime() - Date.now())).toBeLessThan(HOUR / 2);
    // When it dies, its lease ends.
    await wrong.ended();
    expect(await whenFree(() => contentOf(store, "alice"))).toBe("b");
    await recover(store, disk, "alice-of-anna");
  },
);

/** Writes a disk image, and returns its path. */
function imageOf(seed: string): string {
  const image = path(`image-${seed}`);
  mkdirSync(path("."), { recursive: true });
  writeOnce(image, noise(seed, SIZE));
  return image;
}

function writeOnce(file: string, bytes: Buffer): void {
  if (!existsSync(file)) writeFileSync(file, bytes);
}

/** Returns the results that succeeded, and the codes of the others. */
async function outcomes<T>(calls: readonly Promise<T>[]) {
  const ends = await Promise.allSettled(calls);
  return {
    won: ends.flatMap((end) => (end.status === "fulfilled" ? [end.value] : [])),
    codes: ends.flatMap((end) => (end.status === "rejected" ? [end.reason.code] : [])),
  };
}

test(`of ${HOSTS} hosts that attach a disk in S3 at the same time, exactly one gets it`, async () => {
  const place = newPlace();
  const names = Array.from({ length: HOSTS }, (_, at) => `host-${at}`);
  const hosts = await Promise.all(names.map((name) => openBehindWire(place, name)));
  const stores = hosts.map(({ store }) => store);
  const [first] = stores as [DiskStore];
  await first.create("alice", { size: SIZE });
  const { won, codes } = await outcomes(stores.map((store) => store.attach("alice")));
  expect(codes).toEqual(Array(HOSTS - 1).fill("ERR_ATTACHED"));
  expect(won[0]?.epoch).toBe(1);
  await won[0]?.detach();
});

test(`of ${HOSTS} processes that attach a disk in a folder after its host was killed, exactly one gets it`, async () => {
  const place = path("eight");
  const store = await open(place, { images: path("eight-images") });
  await store.create("alice", { size: SIZE });
  await store.create("bella", { size: SIZE });
  const processes = Array.from({ length: HOSTS }, () => new StoreProcess());
  onTestFinished(async () => {
    for (const one of processes) await one.ended();
  });
  const stores = await Promise.all(
    processes.map((one, at) => one.open(place, { images: path(`eight-${at}`) })),
  );
  for (const [name, epoch] of [
    ["alice", 1],
    ["bella", 1],
    ["alice", 2],
  ] as const) {
    const running = stores.filter((_, at) => !processes[at]?.died.aborted);
    const { won, codes } = await outcomes(running.map((one) => one.attach(name)));
    expect(codes).toEqual(Array(running.length - 1).fill("ERR_ATTACHED"));
    expect(won[0]?.epoch).toBe(epoch);
    const owner = Number(/eight-(\d)\//.exec(won[0]?.image ?? "")?.[1]);
    await processes[owner]?.ended();
  }
});

test.each(["S3", "a folder"])(
  `of ${HOSTS} hosts that create a disk of one name in %s, exactly one does`,
  async (kind) => {
    const place = kind === "S3" ? newPlace() : path("created");
    const openOn = async (host: string) =>
      kind === "S3" ? (await openBehindWire(place, host)).store : open(place, optionsOf(host));
    const stores = await Promise.all(
      Array.from({ length: HOSTS }, (_, at) => openOn(`host-${at}`)),
    );
    const { won, codes } = await outcomes(
      stores.map((store, at) => store.create("alice", { image: imageOf(`created-${at}`) })),
    );
    expect(codes).toEqual(Array(HOSTS - 1).fill("ERR_DISK_EXISTS"));
    const [store] = stores as [DiskStore];
    expect(await store.stat("alice")).toMatchObject({ last: { digest: won[0]?.digest } });
  },
);

test.each<Condition>(["If-None-Match", "If-Match"])(
  "a service that ignores %s is refused when the store is opened",
  async (condition) => {
    await using service = await startFakeS3(condition);
    const opening = DiskStore.open("s3://bucket/store", optionsOf("anna", service.endpoint));
    await expect(opening).rejects.toMatchObject({
      code: "ERR_STORE",
      message: `s3://bucket/store: the service does not honour ${condition}; use one that does, such as AWS S3`,
    });
  },
);

test("a service that honours all conditions is accepted when the store is opened", async () => {
  await using service = await startFakeS3();
  const store = await open("s3://bucket/store", optionsOf("anna", service.endpoint));
  expect(store.location).toBe("s3://bucket/store");
});

test("a detach whose response was lost can be called again", async () => {
  const place = newPlace();
  let isLossy = false;
  const { store } = await openBehindWire(place, "anna", (method, url) =>
    isLossy && (method !== "PUT" || url.includes("/disks/"))
      ? method === "PUT"
        ? { loseResponse: true }
        : url.includes("/disks/")
          ? { loseRequest: true }
          : undefined
      : undefined,
  );
  const disk = await attachNew(store, "alice");
  await disk.write(0, text("a"));
  isLossy = true;
  await expect(disk.detach()).rejects.toMatchObject({ code: "ERR_STORE" });
  isLossy = false;
  await disk.detach();
  expect(disk.lost.aborted).toBe(false);
  expect(await contentOf(store, "alice")).toBe("a");
});

test("a detach whose response was lost fails if another host has attached the disk since", async () => {
  const place = newPlace();
  let isLossy = false;
  const { store } = await openBehindWire(place, "anna", (method, url) =>
    isLossy && url.includes("/disks/")
      ? { [method === "PUT" ? "loseResponse" : "loseRequest"]: true }
      : undefined,
  );
  const disk = await attachNew(store, "alice");
  await disk.write(0, text("a"));
  isLossy = true;
  await expect(disk.detach()).rejects.toMatchObject({ code: "ERR_STORE" });
  const other = await open(place, optionsOf("bob"));
  const taken = await other.attach("alice");
  expect((await taken.read(0, 1)).toString()).toBe("a");
  isLossy = false;
  await expect(disk.detach()).rejects.toMatchObject({ code: "ERR_LEASE_LOST" });
  await taken.detach();
});

test("a file is saved as it is, whatever the store has of a save whose response was lost", async () => {
  const place = newPlace();
  let isLossy = false;
  const { store } = await openBehindWire(place, "anna", (method, url) =>
    isLossy && url.includes("/disks/")
      ? { [method === "PUT" ? "loseResponse" : "loseRequest"]: true }
      : undefined,
  );
  await store.create("alice", { size: SIZE, volumes: { state: {} } });
  const disk = await store.attach("alice");
  const { path: state } = disk.volume("state") as FileVolume;
  writeFileSync(state, "lost");
  isLossy = true;
  await expect(disk.save()).rejects.toMatchObject({ code: "ERR_STORE" });
  isLossy = false;
  writeFileSync(state, "");
  await disk.detach();
  const again = await store.attach("alice");
  expect(readFileSync((again.volume("state") as FileVolume).path, "utf8")).toBe("");
  await again.detach();
});

test("a removal whose response was lost does not remove the next disk of the same name", async () => {
  const place = newPlace();
  const other = await open(place, optionsOf("bob"));
  let [isLost, isCreated] = [false, false];
  const faultOf = (method: string, url: string) => {
    const isRemoval = method === "DELETE" && url.includes("/disks/");
    if (isRemoval && !isLost) {
      isLost = true;
      return { loseResponse: true };
    }
    // The next attempt comes when the name is in use again.
    return isLost && !isCreated && url.includes("/disks/") ? { status: 503 } : undefined;
  };
  const { store } = await openBehindWire(place, "anna", faultOf, { retries: 20 });
  await store.create("alice", { size: SIZE });
  const removing = store.remove("alice");
  await expect.poll(() => isLost).toBe(true);
  await expect
    .poll(() =>
      other.stat("alice").then(
        () => true,
        ({ code }) => code,
      ),
    )
    .toBe("ERR_NO_DISK");
  const { digest } = await other.create("alice", { image: imageOf("next") });
  isCreated = true;
  await removing;
  expect(await other.stat("alice")).toMatchObject({ last: { digest } });
});

test("a request to remove a disk that arrives late does not remove the next disk of the same name", async () => {
  const place = newPlace();
  const other = await open(place, optionsOf("bob"));
  const { store, wire } = await openBehindWire(place, "anna", (method, url) =>
    method === "DELETE" && url.includes("/disks/") ? { late: 1_500 } : undefined,
  );
  await store.create("alice", { size: SIZE });
  await store.remove("alice");
  await expect(other.stat("alice")).rejects.toMatchObject({ code: "ERR_NO_DISK" });
  for await (const name of other.list()) throw new Error(`expected no disk, found ${name}`);
  const { digest } = await other.create("alice", { image: imageOf("next") });
  await wire.settled();
  expect(await other.stat("alice")).toMatchObject({ last: { digest } });
});

test("a disk whose host died while it removed it can be created again, or is collected", async () => {
  const place = newPlace();
  const folder = join(s3.folder, new URL(place).pathname, "disks");
  const { store } = await openBehindWire(place, "anna", (method, url) =>
    method === "DELETE" && url.includes("/disks/") ? { loseRequest: true } : undefined,
  );
  const other = await open(place, optionsOf("bob"));
  for (const name of ["alice", "carol"]) {
    await store.create(name, { size: SIZE });
    await store.remove(name);
  }
  expect(readdirSync(folder)).toEqual(["alice", "carol"]);
  for (const name of readdirSync(folder)) utimesSync(join(folder, name), 0, 0);
  await other.create("alice", { size: SIZE });
  await other.collect({ grace: "1h" });
  expect(readdirSync(folder)).toEqual(["alice"]);
  await other.verify("alice");
});

test("a request to delete a snapshot that arrives late does not delete one that was stored again", async () => {
  const place = newPlace();
  const folder = join(s3.folder, new URL(place).pathname, "tombstones");
  const setBack = () => {
    for (const name of readdirSync(folder)) utimesSync(join(folder, name), 0, 0);
  };
  const late = 1_500;
  let isLate = false;
  const { store, wire } = await openBehindWire(place, "anna", (method, url) => {
    if (isLate || method !== "DELETE" || !url.includes("/snapshots/") || !url.includes(".vhs?"))
      return undefined;
    isLate = true;
    return { late };
  });
  await store.create("alice", { image: imageOf("late") });
  await store.remove("alice");
  await store.collect({ grace: "1h" });
  setBack();
  await store.collect({ grace: "1h" });
  expect(isLate).toBe(true);
  const other = await open(place, optionsOf("bob"));
  const creating = other.create("alice", { image: imageOf("late") });
  await sleep(late);
  await wire.settled();
  // The claim is over.
  setBack();
  await creating;
  await other.verify("alice");
});

/** Where images are recovered, and how much of them was filled: first, each of both once. */
const RECOVERIES = [
  ["S3", "all"],
  ["a folder", "none"],
  ["S3", "none"],
  ["a folder", "all"],
] as const;

test.each(RECOVERIES.slice(0, trials({ few: 2, all: 4 })))(
  "an image of %s whose snapshot was collected is recovered if it is complete: fill %s",
  async (kind, fill) => {
    const place = kind === "S3" ? newPlace() : path(`collected-${fill}`);
    const root = kind === "S3" ? join(s3.folder, new URL(place).pathname) : place;
    const store = await open(place, optionsOf("anna"));
    const other = await open(place, optionsOf("bob"));
    await store.create("alice", { image: imageOf("collected"), pieceSize: PIECE });
    const disk = await store.attach("alice", { fill });
    if (fill === "all") await disk.filled;
    await disk.write(0, text("a"));
    const stolen = await other.attach("alice", { steal: true });
    await stolen.write(0, noise("other", SIZE));
    await stolen.detach();
    await other.expire({ keepLast: 1 });
    await other.collect({ grace: "1h" });
    for (const name of readdirSync(join(root, "tombstones")))
      utimesSync(join(root, "tombstones", name), 0, 0);
    expect((await other.collect({ grace: "1h" })).deleted).toHaveLength(1);
    if (fill === "none") {
      await expect(recover(store, disk, "alice-of-anna")).rejects.toMatchObject({
        code: "ERR_STORE",
        message: `${disk.image}: this image is not complete, and the store no longer has the snapshot that it began with`,
      });
      return;
    }
    await recover(store, disk, "alice-of-anna");
    const recovered = await store.attach("alice-of-anna");
    const expected = Buffer.concat([text("a"), noise("collected", SIZE).subarray(PIECE)]);
    expect((await recovered.read(0, SIZE)).equals(expected)).toBe(true);
    await recovered.detach();
    expect(existsSync(disk.image)).toBe(false);
  },
);

test("a collection aborts the uploads of hosts that were killed", async () => {
  const place = newPlace();
  const { store, wire } = await openBehindWire(place, "anna", (method, url) => {
    // The host dies when it has uploaded a part.
    if (method === "PUT" && url.includes("partNumber=2")) wire.cut();
    return undefined;
  });
  const image = path("large");
  writeOnce(image, noise("large", 12 * 2 ** 20));
  const creating = store.create("alice", { image });
  await expect(creating).rejects.toMatchObject({ code: "ERR_TARGET" });
  const uploads = () =>
    s3.multipartUploads().filter(({ key }) => place.endsWith(key.split("/")[0] ?? ""));
  expect(uploads()).toHaveLength(1);
  const other = await open(place, optionsOf("bob"));
  expect(await other.collect({ grace: "1h" })).toMatchObject({ leftovers: 0 });
  await expect
    .poll(async () => (await other.collect({ grace: "1s" })).leftovers, { timeout: 20_000 })
    .toBe(1);
  expect(uploads()).toEqual([]);
});

/** Creates a disk whose last generation is a delta. Returns the identities of the delta and of its base object. */
async function createDelta(place: string): Promise<{ readonly delta: string; base: string }> {
  const store = await open(place, optionsOf("anna"));
  const image = path("delta.img");
  writeFileSync(image, noise("base", SIZE));
  const { digest: base } = await store.create("alice", { image, pieceSize: PIECE });
  const disk = await store.attach("alice");
  await disk.write(PIECE, text("a"));
  await disk.detach();
  return { delta: (await store.stat("alice")).last.digest, base };
}

test("a host without a cache requests the base objects of a delta before it has the manifest of the delta", async () => {
  const place = newPlace();
  const { delta, base } = await createDelta(place);
  const asked = new Set<string>();
  const { store } = await openBehindWire(place, "bob", (_, url) => {
    for (const digest of [delta, base]) if (url.includes(`${digest}.vhs?`)) asked.add(digest);
    const isEarly = url.includes(`${delta}.vhs?`) && !asked.has(base);
    return isEarly ? { loseRequest: true } : undefined;
  });
  const disk = await store.attach("alice", { fill: "none" });
  const expected = Buffer.from(noise("base", SIZE));
  text("a").copy(expected, PIECE);
  expect((await disk.read(0, SIZE)).equals(expected)).toBe(true);
  expect([...asked].sort()).toEqual([delta, base].sort());
  await disk.detach({ save: false });
});

test("a host whose cache has the base of a delta does not request its base objects", async () => {
  const place = newPlace();
  const { base } = await createDelta(place);
  const cache = await ImageCache.open(path(`cache-${count}`), { maxBytes: 2 ** 30 });
  onTestFinished(() => cache.close());
  const source = join(s3.folder, new URL(place).pathname, "snapshots", `${base}.vhs`);
  await (await cache.get(source, { digest: base })).release();
  const asked: string[] = [];
  const record = (_: string, url: string) => {
    if (url.includes(`${base}.vhs?`)) asked.push(url);
    return undefined;
  };
  const { store } = await openBehindWire(place, "bob", record, { cache });
  const disk = await store.attach("alice", { fill: "none" });
  expect((await disk.read(PIECE, PIECE)).equals(text("a"))).toBe(true);
  expect((await disk.read(0, PIECE)).equals(noise("base", SIZE).subarray(0, PIECE))).toBe(true);
  await disk.detach({ save: false });
  expect(asked).toEqual([]);
});

test.each([404, 503])(
  "a disk whose base object the service answers with %s is not attached",
  async (status) => {
    const place = newPlace();
    const { base } = await createDelta(place);
    const { store } = await openBehindWire(place, "bob", (_, url) =>
      url.includes(`${base}.vhs?`) ? { status } : undefined,
    );
    await expect(store.attach("alice")).rejects.toMatchObject({
      code: "ERR_SOURCE",
      status,
      message: expect.stringMatching(`base object ${base}`),
    });
    expect((await store.stat("alice")).attached).toBeUndefined();
  },
);

test("an attach that fails does not wait for base objects", async () => {
  const place = newPlace();
  const { delta, base } = await createDelta(place);
  const { store } = await openBehindWire(place, "bob", (_, url) => {
    if (url.includes(`${delta}.vhs?`)) return { status: 404 };
    // Longer than the test may take.
    return url.includes(`${base}.vhs?`) ? { delay: 60_000 } : undefined;
  });
  await expect(store.attach("alice")).rejects.toMatchObject({
    ...{ code: "ERR_SOURCE", status: 404 },
  });
}, 10_000);

test("credentials are in no object, local file, error or event of a store", async () => {
  const place = newPlace();
  const events = [
    ...(["attach", "save", "save-failed", "lost", "collect"] as const).map((name) =>
      recordEvents(`hedgerow:store:${name}`),
    ),
  ];
  const errors: unknown[] = [];
  const { store, wire } = await openBehindWire(place, "anna");
  const options = optionsOf("bob");
  const other = await open(place, options);
  const fail = async (call: Promise<unknown>) => {
    errors.push(
      await call.then(
        () => undefined,
        (error: unknown) => error,
      ),
    );
  };
  const disk = await attachNew(store, "alice");
  await disk.write(0, text("a"));
  await disk.save({ label: "first" });
  await fail(other.attach("alice"));
  await fail(other.create("alice", { size: SIZE }));
  await fail(other.stat("bella"));
  wire.cut();
  await disk.write(0, text("b"));
  await fail(disk.save());
  await fail(store.stat("alice"));
  await fail(store.collect());
  wire.mend();
  const stolen = await other.attach("alice", { steal: true });
  await fail(disk.save());
  await fail(disk.detach());
  await other.collect();
  const { credentials } = s3;
  const wrong = { ...credentials, secretAccessKey: `${credentials.secretAccessKey}-wrong` };
  await fail(DiskStore.open(place, { ...options, s3: { ...options.s3, credentials: wrong } }));
  const folder = join(s3.folder, new URL(place).pathname);
  const texts = [
    ...filesIn(folder).filter((file) => !file.includes("/snapshots/")),
    ...filesIn(options.images ?? ""),
  ].map((file) => readFileSync(file, "latin1"));
  texts.push(JSON.stringify(events), ...errors.map(textsIn));
  expect(errors).not.toContain(undefined);
  expect(texts.length).toBeGreaterThan(10);
  for (const secret of [credentials.secretAccessKey, credentials.accessKeyId])
    expect(texts.filter((one) => one.includes(secret))).toEqual([]);
  await stolen.detach();
});

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
