/** Disks whose server, object, frames, file system or machine fails. */
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { open as openFile } from "node:fs/promises";
import { constants } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import {
  createSnapshot,
  type OpenOptions,
  openSnapshot,
  restoreSnapshot,
} from "@hedgerow/snapshot";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";

import type { Faults } from "../../../../tests/origin/fault.mjs";
import { parseRange, type Range } from "../../../../tests/origin/resource.mjs";
import { closed, serve } from "../../../../tests/support/http/listen.js";
import { leftovers, temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { FrameStates, MissingFrames } from "../../dist/decode/frame-states.js";
import type { DiskFiles } from "../../dist/disk/disk-files.js";
import { DiskImage } from "../../dist/disk/disk-image.js";
import type { Libc } from "../../dist/local/libc.js";
import { SEEK_END } from "../../dist/local/libc.js";
import { DiskProcess } from "../support/disk-process.js";
import { recordEvents } from "../support/events.js";
import { failSystem } from "../support/fail-system.js";
import { ext4Disk, memoryDisk } from "../support/loop-disk.js";
import { NBD, NbdClient } from "../support/nbd-client.js";
import { refusalOf } from "../support/refusal.js";
import { isTail, originOf } from "../support/remote.js";
import { manifestOf } from "../support/resume-state.js";

const [PIECE, MIB, BLOCK] = [2 ** 16, 2 ** 20, 2 ** 12];
const path = temporaryFolder();
const image = noise("failing", 4 * MIB);
const written = noise("written", BLOCK);
let snapshot: Buffer;

beforeAll(async () => {
  writeFileSync(path("image"), image);
  await createSnapshot(path("image"), path("a.vhs"), { pieceSize: PIECE, workers: 1 });
  snapshot = readFileSync(path("a.vhs"));
});

let count = 0;

/** Opens a disk over a server, in a folder of its own. It is closed when the test ends. */
async function open(options: Partial<OpenOptions> = {}, faults?: Faults) {
  count += 1;
  const folder = path(`disk-${count}`);
  mkdirSync(folder);
  const origin = await originOf({ "/a.vhs": snapshot }, faults && { faults });
  const how = { fill: "none", workers: 1, retries: 1, ...options } as const;
  const target = `${folder}/disk`;
  const disk = await openSnapshot(origin.url("/a.vhs"), { ...how, image: target });
  onTestFinished(() => disk.close().catch(() => {}));
  return { disk, origin, folder, target };
}

const at = (offset: number, length = BLOCK) => image.subarray(offset, offset + length);

test("readers wait while the server is away, and the fill goes on when it is back", async () => {
  let isAway = false;
  const { disk, target } = await open({ fill: "all", fillBytesPerSecond: MIB }, () =>
    isAway ? { status: 503 } : undefined,
  );
  isAway = true;
  const reading = disk.read(2 * MIB, BLOCK);
  expect(await Promise.race([reading, sleep(1_500, "waiting")])).toBe("waiting");
  // Whole blocks need nothing of the server.
  await disk.write(MIB, written);
  isAway = false;
  expectSame(await reading, at(2 * MIB));
  await disk.filled;
  expectSame(
    readFileSync(target),
    Buffer.concat([at(0, MIB), written, image.subarray(MIB + BLOCK)]),
  );
});

test.each([403, 429, 520])("readers wait while the server answers with %i", async (status) => {
  let isAway = false;
  const { disk } = await open({}, () => (isAway ? { status } : undefined));
  isAway = true;
  const reading = disk.read(2 * MIB, BLOCK);
  expect(await Promise.race([reading, sleep(1_000, "waiting")])).toBe("waiting");
  isAway = false;
  expectSame(await reading, at(2 * MIB));
});

test("a denied range is requested once more after its URL was renewed, and not again", async () => {
  let isDenied = false;
  // The first byte, by which a URL is renewed, is allowed.
  const faults: Faults = ({ length }) => (isDenied && length > 1 ? { status: 403 } : undefined);
  const { disk, origin } = await open({ onStall: "error" }, faults);
  isDenied = true;
  const before = origin.requestCount;
  await expect(disk.read(2 * MIB, 1)).rejects.toMatchObject({ status: 403 });
  const ranges = origin.requests.slice(before).map(({ headers }) => headers.range);
  expect(ranges).toEqual([ranges[0], "bytes=0-0", ranges[0]]);
});

test("readers of missing data get an error if the object was deleted", async () => {
  let isGone = false;
  const { disk } = await open({}, () => (isGone ? { status: 404 } : undefined));
  isGone = true;
  await expect(disk.read(2 * MIB, 1)).rejects.toMatchObject({ code: "ERR_SOURCE", status: 404 });
});

test("while the server is away, a write that waits for it holds up neither others nor a save", async () => {
  let isAway = false;
  const { disk, folder } = await open({}, () => (isAway ? { status: 503 } : undefined));
  await disk.write(0, written);
  isAway = true;
  const waiting = disk.write(2 * MIB + 1, written.subarray(1));
  await sleep(50);
  const save = disk.save(`${folder}/saved.vhs`, { resolve: () => path("a.vhs") });
  await disk.write(MIB, written);
  await save;
  await disk.write(MIB + BLOCK, written);
  isAway = false;
  await waiting;
  expectSame(await disk.read(2 * MIB + 1, BLOCK - 1), written.subarray(1));
});

test("a save that waits for the server is aborted by its signal, and loses nothing", async () => {
  let isAway = false;
  const { disk, folder } = await open({}, () => (isAway ? { status: 503 } : undefined));
  const most = noise("most", 3 * MIB);
  await disk.write(0, most);
  await disk.save(`${folder}/first.vhs`, { resolve: () => path("a.vhs") });
  await disk.write(most.length, written);
  isAway = true;
  const { changedBytes } = disk;
  // The next save has to store data of the snapshot again.
  const options = { signal: AbortSignal.timeout(200) };
  const saving = disk.save(`${folder}/saved.vhs`, options);
  await expect(saving).rejects.toMatchObject({ name: "TimeoutError" });
  expect(disk.changedBytes).toBe(changedBytes);
  isAway = false;
  await disk.save(`${folder}/saved.vhs`);
  await restoreSnapshot(`${folder}/saved.vhs`, `${folder}/restored`, { workers: 1 });
  const expected = [most, written, image.subarray(most.length + BLOCK)];
  expectSame(readFileSync(`${folder}/restored`), Buffer.concat(expected));
});

describe.each(["all", "none"] as const)("with signed URLs that expire, and fill: %s", (fill) => {
  /** Serves a snapshot at a URL that redirects to a signed one, of which only the last is valid. */
  async function signing() {
    const state = { signature: 1, requests: 0, status: 403 };
    const { server, url } = await serve((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://localhost");
      state.requests += 1;
      if (pathname === "/a.vhs") {
        return response.writeHead(307, { location: `/signed?${state.signature}` }).end();
      }
      const { start, end } = parseRange(request.headers.range, snapshot.length) as Range;
      if (!searchParams.has(`${state.signature}`)) return response.writeHead(state.status).end();
      const range = `bytes ${start}-${end - 1}/${snapshot.length}`;
      response.writeHead(206, { "content-range": range, "content-length": end - start });
      response.end(snapshot.subarray(start, end));
    });
    onTestFinished(() => closed(server));
    return { state, source: `${url}a.vhs` };
  }

  test.each([403, 400])("renews them after status %i", async (status) => {
    const { state, source } = await signing();
    count += 1;
    const options = { image: path(`signed-${count}`), fill, trace: false, workers: 1 } as const;
    // Slow enough that the signature expires before the disk is filled.
    const limits = { fillBytesPerSecond: MIB, onStall: status === 400 ? "error" : "wait" } as const;
    await using disk = await openSnapshot(source, { ...options, ...limits });
    expectSame(await disk.read(0, BLOCK), at(0));
    Object.assign(state, { signature: 2, status });
    const offsets = Array.from({ length: 8 }, (_, number) => 2 * MIB + number * 4 * PIECE);
    const reads = await Promise.all(offsets.map((offset) => disk.read(offset, BLOCK)));
    reads.forEach((found, number) => {
      expectSame(found, at(offsets[number]!));
    });
    if (fill === "none") return;
    await disk.filled;
    expectSame(readFileSync(options.image), image);
  });
});

test("a response that does not end is cut off, and readers go on", async () => {
  const { server, url } = await serve((request, response) => {
    const range = parseRange(request.headers.range, snapshot.length);
    const { start, end } = range as { start: number; end: number };
    const isTail = end === snapshot.length;
    response.writeHead(206, { "content-range": `bytes ${start}-${end - 1}/${snapshot.length}` });
    response.write(snapshot.subarray(start, end));
    if (isTail) return response.end();
    const timer = setInterval(() => response.write("junk"), 5);
    response.on("close", () => clearInterval(timer));
  });
  onTestFinished(() => closed(server));
  const options = { image: path("endless"), fill: "none", trace: false } as const;
  await using disk = await openSnapshot(`${url}a.vhs`, options);
  // More of them than there are requests at the same time.
  for (let offset = 0; offset < 3 * MIB; offset += 2 * PIECE)
    expectSame(await disk.read(offset, BLOCK), at(offset));
});

test("what the system cannot tell to be a hole counts as data", () => {
  const { EIO, ENXIO } = constants.errno;
  const unused = undefined as never;
  for (const errno of [EIO, ENXIO]) {
    const lseek = (_fd: number, _at: number, whence: number) =>
      whence === SEEK_END ? MIB : -errno;
    const files = { file: { fd: 0 } } as DiskFiles;
    const libc = { lseek } as unknown as Libc;
    const disk = new DiskImage(files, unused, unused, undefined, unused, libc);
    const status = disk.statusAt(0, { start: 0, end: MIB, frame: undefined });
    expect(status).toEqual({ end: MIB, isHole: errno === ENXIO });
  }
});

test("with onStall: error, readers get an error, and clients EIO", async () => {
  let isAway = false;
  const faults = () => (isAway ? { noAnswer: true } : undefined);
  const timeouts = { firstByte: 1_000 };
  const { disk, folder } = await open({ onStall: "error", timeouts }, faults);
  await disk.listen({ path: `${folder}/socket` });
  const client = await NbdClient.open(`${folder}/socket`);
  isAway = true;
  const { cmd, errno } = NBD;
  const reply = await client.request({ type: cmd.read, offset: 2 * MIB, length: 10 });
  expect(reply.errno).toBe(errno.io);
  await expect(disk.read(2 * MIB, 1)).rejects.toMatchObject({ code: "ERR_SOURCE" });
  isAway = false;
  expectSame(await client.readAt(2 * MIB, BLOCK), at(2 * MIB));
  await client.close();
});

test("closing a disk ends readers and writers that wait", async () => {
  const { disk } = await open({}, (request) => (isTail(request) ? undefined : { noAnswer: true }));
  const reading = expect(disk.read(0, 1)).rejects.toMatchObject({ code: "ERR_DISK_CLOSED" });
  const writing = expect(disk.write(1, Buffer.alloc(1))).rejects.toMatchObject({
    code: "ERR_DISK_CLOSED",
  });
  await sleep(50);
  await disk.close();
  await Promise.all([reading, writing]);
  await expect(disk.filled).rejects.toMatchObject({ code: "ERR_DISK_CLOSED" });
  await expect(disk.flush()).rejects.toMatchObject({ code: "ERR_DISK_CLOSED" });
  await disk.close();
});

test("a disk that is closed serves no clients, even if it began to listen before", async () => {
  const { disk, folder } = await open({});
  const early = refusalOf(disk.listen({ path: `${folder}/early` }), "ERR_DISK_CLOSED");
  const closing = disk.close();
  const late = refusalOf(disk.listen({ path: `${folder}/late` }), "ERR_DISK_CLOSED");
  await Promise.all([closing, early, late]);
  await refusalOf(disk.listen({ path: `${folder}/later` }), "ERR_DISK_CLOSED");
  expect(readdirSync(folder).filter((name) => /early|late/.test(name))).toEqual([]);
});

test("an object that is replaced is an error to readers of what is missing, and nothing else", async () => {
  const { disk, origin } = await open();
  await disk.read(0, 1);
  const other = path("other.vhs");
  writeFileSync(path("other"), noise("other", 4 * MIB));
  await createSnapshot(path("other"), other, { pieceSize: PIECE, workers: 1 });
  origin.set("/a.vhs", readFileSync(other));
  const changed = { code: "ERR_SOURCE_CHANGED" };
  await expect(disk.read(2 * MIB, 1)).rejects.toMatchObject(changed);
  expectSame(await disk.read(0, BLOCK), at(0));
  await disk.write(BLOCK, written);
  expectSame(await disk.read(BLOCK, BLOCK), written);
});

test("a damaged frame is an error to its readers, and the others read on", async () => {
  const damaged = Buffer.from(snapshot);
  damaged[snapshot.length >> 1]! ^= 1;
  writeFileSync(path("damaged.vhs"), damaged);
  await using disk = await openSnapshot(path("damaged.vhs"), {
    image: path("damaged"),
    workers: 1,
  });
  await expect(disk.filled).rejects.toMatchObject({ code: "ERR_SNAPSHOT_FORMAT" });
  const results = await Promise.allSettled(
    Array.from({ length: image.length / PIECE }, (_, piece) => disk.read(piece * PIECE, PIECE)),
  );
  const failed = results.flatMap((result, piece) => {
    if (result.status === "rejected") return [result.reason.code];
    expectSame(result.value, at(piece * PIECE, PIECE));
    return [];
  });
  expect(failed).toEqual(["ERR_SNAPSHOT_FORMAT"]);
});

test("one disk has an image at a time, and its files are of one snapshot", async () => {
  const { target } = await open();
  await expect(openSnapshot(path("a.vhs"), { image: target })).rejects.toMatchObject({
    ...{ code: "ERR_TARGET", message: expect.stringContaining("another process has opened it") },
  });
  const first = await openSnapshot(path("a.vhs"), { image: path("one"), fill: "none" });
  await first.close();
  writeFileSync(path("small"), noise("small", PIECE));
  await createSnapshot(path("small"), path("small.vhs"));
  await expect(openSnapshot(path("small.vhs"), { image: path("one") })).rejects.toMatchObject({
    code: "ERR_TARGET",
  });
  writeFileSync(path("foreign"), "not ours");
  await expect(openSnapshot(path("a.vhs"), { image: path("foreign") })).rejects.toMatchObject({
    code: "ERR_TARGET",
  });
  expect(readFileSync(path("foreign"), "utf8")).toBe("not ours");
});

test("an image does not take its name from another file, and is filled when that is gone", async () => {
  const { disk, origin, folder, target } = await open({ fill: "all", fillBytesPerSecond: 1 });
  const filled = disk.filled;
  writeFileSync(target, "not ours");
  await disk.write(BLOCK, written);
  await disk.read(0, disk.size);
  await expect(filled).rejects.toMatchObject({ code: "ERR_TARGET" });
  await disk.write(0, written);
  await disk.close();
  const again = { image: target, workers: 1 };
  await expect(openSnapshot(origin.url("/a.vhs"), again)).rejects.toMatchObject({
    code: "ERR_TARGET",
  });
  expect(readFileSync(target, "utf8")).toBe("not ours");
  rmSync(target);
  await using reopened = await openSnapshot(origin.url("/a.vhs"), again);
  await reopened.filled;
  const expected = Buffer.concat([written, written, image.subarray(2 * BLOCK)]);
  expectSame(readFileSync(target), expected);
  expect(readdirSync(folder).filter((name) => name.endsWith(".disk"))).toEqual([]);
});

const full = ext4Disk(8 * MIB);

test("a full file system is an error to writers, loses nothing, and is filled when there is room", async () => {
  const ballast = full.path("ballast");
  // Leave half a mebibyte.
  expect(() => writeFileSync(ballast, Buffer.alloc(8 * MIB))).toThrow("ENOSPC");
  truncateSync(ballast, statSync(ballast).size - MIB / 2);
  const target = full.path("disk");
  await using disk = await openSnapshot(path("a.vhs"), { image: target, workers: 1 });
  await disk.write(0, written);
  await disk.flush();
  await disk.listen({ path: path("full-socket") });
  const client = await NbdClient.open(path("full-socket"));
  const { cmd, errno } = NBD;
  const expected = Buffer.from(image);
  written.copy(expected);
  let refused = 0;
  for (let offset = PIECE; offset < image.length; offset += PIECE) {
    const data = noise(`${offset}`, PIECE);
    const reply = await client.request({ type: cmd.write, offset, data });
    if (reply.errno === 0) data.copy(expected, offset);
    else expect(reply.errno).toBe(errno.noSpace);
    refused += Number(reply.errno !== 0);
  }
  expect(refused).toBeGreaterThan(0);
  rmSync(ballast);
  await disk.filled;
  expectSame(await disk.read(0, disk.size), expected);
  await client.close();
});

const memory = memoryDisk(8 * MIB);

test("closing a disk on a full file system loses no writes", async () => {
  const ballast = memory.path("ballast");
  const options = { image: memory.path("disk"), fill: "none" } as const;
  const disk = await openSnapshot(path("a.vhs"), options);
  await disk.write(MIB, written);
  expect(() => {
    for (;;) appendFileSync(ballast, Buffer.alloc(BLOCK));
  }).toThrow("ENOSPC");
  await disk.close();
  rmSync(ballast);
  await using again = await openSnapshot(path("a.vhs"), options);
  expectSame(await again.read(MIB, BLOCK), written);
});

test("a range is not complete while a thread writes its last frame, since that may fail", async () => {
  const { frames } = await manifestOf(path("a.vhs"));
  const states = FrameStates.of(frames, () => true);
  const missing = new MissingFrames(frames, states);
  const range = { first: 0, end: 2 };
  states.finish(0);
  expect(states.claim(1)).toBe(true);
  expect(missing.bytesOf(range)).toBeUndefined();
  expect(missing.hasNone(range)).toBe(false);
  states.release(1);
  expect(missing.bytesOf(range)).toMatchObject({ first: 1 });
  states.inherit(1);
  expect(missing.hasNone(range)).toBe(true);
});

const small = ext4Disk(16 * MIB);

test.each([
  // The blocks of the failed write count as written before, or only the first of them does.
  ["that is filled", "all", 2 * MIB],
  ["that is not there", "none", MIB / 2],
] as const)(
  `a save has what a read returns after a write that failed to an image %s`,
  async (_, fill, offset) => {
    const [folder, ballast] = [path(`small-${fill}`), small.path("ballast")];
    mkdirSync(folder);
    writeFileSync(
      `${folder}/image`,
      Buffer.concat([image.subarray(0, MIB), Buffer.alloc(9 * MIB)]),
    );
    await createSnapshot(`${folder}/image`, `${folder}/a.vhs`, { pieceSize: PIECE, workers: 1 });
    const options = { image: small.path(fill), fill, workers: 1 };
    await using disk = await openSnapshot(`${folder}/a.vhs`, options);
    if (fill === "all") await disk.filled;
    await disk.write(offset, written);
    await disk.save(`${folder}/first.vhs`);
    expect(() => writeFileSync(ballast, Buffer.alloc(16 * MIB))).toThrow("ENOSPC");
    truncateSync(ballast, statSync(ballast).size - 2 * MIB);
    await expect(disk.write(offset, noise("large", 6 * MIB))).rejects.toMatchObject({
      code: "ERR_TARGET",
    });
    rmSync(ballast);
    const found = await disk.read(0, disk.size);
    await disk.save(`${folder}/second.vhs`);
    await restoreSnapshot(`${folder}/second.vhs`, `${folder}/restored`, { workers: 1 });
    expectSame(readFileSync(`${folder}/restored`), found);
    await disk.close();
    rmSync(options.image, { force: true });
  },
);

test("a sync in the background that fails is an error of each later flush", async () => {
  const { disk } = await open();
  await disk.write(0, written);
  const file = await openFile(path("image"));
  const prototype = Object.getPrototypeOf(file) as Pick<typeof file, "datasync">;
  await file.close();
  // The system reports it once, and may have dropped the data.
  const failed = new Promise<void>((resolve) => {
    const failing = vi.spyOn(prototype, "datasync").mockImplementationOnce(async () => {
      resolve();
      throw Object.assign(new Error("EIO: i/o error"), { code: "EIO", syscall: "fdatasync" });
    });
    onTestFinished(() => failing.mockRestore());
  });
  await failed;
  for (let flush = 0; flush < 2; flush += 1)
    await expect(disk.flush()).rejects.toMatchObject({ code: "ERR_TARGET" });
  await expect(disk.close()).rejects.toMatchObject({ code: "ERR_TARGET" });
});

test("the first header of a state file is written again if that failed", async () => {
  const file = await openFile(path("image"));
  const prototype = Object.getPrototypeOf(file) as typeof file;
  await file.close();
  const failing = vi.spyOn(prototype, "write").mockImplementationOnce(async () => {
    throw Object.assign(new Error("EIO: i/o error"), { code: "EIO", syscall: "write" });
  });
  onTestFinished(() => failing.mockRestore());
  const options = { image: path("headless"), workers: 1 } as const;
  const disk = await openSnapshot(path("a.vhs"), { ...options, fill: "none" });
  await expect(disk.flush()).rejects.toMatchObject({ code: "ERR_TARGET" });
  await disk.read(0, disk.size);
  await disk.filled;
  await disk.close();
  expect(failing).toHaveBeenCalled();
  await using again = await openSnapshot(path("a.vhs"), options);
  expectSame(await again.read(0, again.size), image);
});

test("a flush that cannot write the state file fails, and the next one loses nothing", async () => {
  const [folder, socket] = [path("limited"), path("limited.sock")];
  mkdirSync(folder);
  const options = { image: `${folder}/disk`, fill: "none", workers: 1 } as const;
  const server = await DiskProcess.start(path("a.vhs"), options, socket);
  onTestFinished(() => server.kill());
  const client = await NbdClient.open(socket);
  const { cmd, errno } = NBD;
  // The image may grow to its first block, and the state file up to the page of written blocks.
  server.limitFiles(2 * BLOCK);
  expect((await client.request({ type: cmd.write, data: written })).errno).toBe(0);
  for (let flush = 0; flush < 2; flush += 1)
    expect((await client.request({ type: cmd.flush })).errno).toBe(errno.noSpace);
  server.limitFiles("unlimited");
  expect((await client.request({ type: cmd.flush })).errno).toBe(0);
  await server.kill();
  await client.close();
  const [state = ""] = leftovers(folder).filter((name) => name.endsWith(".state"));
  expect(failSystem(`${folder}/${state}`)).toBe(true);
  await using disk = await openSnapshot(path("a.vhs"), options);
  expectSame(await disk.read(0, disk.size), Buffer.concat([written, image.subarray(BLOCK)]));
});

describe.each(["all", "none"] as const)(
  "on a file system that is smaller than the data (fill: %s)",
  (fill) => {
    const tiny = memoryDisk(2 * MIB);

    test("a disk reads what does not fit from the snapshot, and never zeros in its place", async () => {
      const events = recordEvents("hedgerow:disk:full");
      const target = tiny.path("disk");
      const origin = await originOf({ "/a.vhs": snapshot });
      const options = { image: target, fill, workers: 1 };
      const disk = await openSnapshot(origin.url("/a.vhs"), options);
      onTestFinished(() => disk.close().catch(() => {}));
      await disk.write(0, written);
      const expected = Buffer.from(image);
      written.copy(expected);
      await disk.listen({ path: path(`tiny-${fill}`) });
      const client = await NbdClient.open(path(`tiny-${fill}`));
      for (let round = 0; round < 2; round += 1) {
        expectSame(await disk.read(0, disk.size), expected);
        const starts = Array.from({ length: 64 }, (_, at) => at * PIECE + 512);
        const reads = await Promise.all(starts.map((start) => client.readAt(start, BLOCK)));
        for (const [at, start] of starts.entries())
          expectSame(reads[at]!, expected.subarray(start, start + BLOCK));
      }
      const { digest } = disk.info;
      expect(events).toMatchObject([{ image: target, digest }]);
      expect(events[0]?.missingBytes).toBeGreaterThan(events[0]?.freeBytes ?? Infinity);
      // Only blocks of frames that were begun have room.
      let refused = 0;
      for (let offset = PIECE; offset < image.length; offset += PIECE) {
        for (const [start, data] of [
          [offset, noise(`${offset}`, PIECE)],
          [offset + 512, noise(`part of ${offset}`, 512)],
        ] as const) {
          const { errno } = await client.request({ type: NBD.cmd.write, offset: start, data });
          if (errno === 0) data.copy(expected, start);
          else expect(errno).toBe(NBD.errno.noSpace);
          refused += Number(errno !== 0);
        }
      }
      expect(refused).toBeGreaterThan(32);
      expectSame(await disk.read(0, disk.size), expected);
      await expect(disk.save(path(`tiny-${fill}.vhs`))).rejects.toMatchObject({
        code: "ERR_TARGET",
      });
      await disk.flush();
      await client.close();
      await disk.close();
      // Nothing that was not kept counts as present.
      await using again = await openSnapshot(origin.url("/a.vhs"), { ...options, fill: "none" });
      expectSame(await again.read(0, again.size), expected);
    });
  },
);
