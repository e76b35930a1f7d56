/** The transmission phase of the NBD server: each duty of `doc/proto.md` is a test. */
import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame } from "../../../../tests/support/snapshots/image.js";
import { NbdServer } from "../../dist/nbd/server.js";
import { listenOf } from "../../src/nbd/server.js";
import { MemoryExport } from "../support/memory-export.js";
import { NBD, NbdClient, uint32 } from "../support/nbd-client.js";

const { cmd, errno, flag } = NBD;
const [SIZE, MIB] = [80 * 2 ** 20, 2 ** 20];
const path = temporaryFolder();
let [exported, server] = [new MemoryExport(0), undefined as NbdServer | undefined];

beforeEach(async () => {
  exported = new MemoryExport(SIZE);
  server = await NbdServer.listen(exported, listenOf({ path: path("socket") }));
});

afterEach(() => server?.close());

const open = (options?: Parameters<typeof NbdClient.open>[1]) =>
  NbdClient.open(path("socket"), options);
const both = [{ structured: false }, { structured: true }];

/** A request that is answered at once, and calls nothing. */
const NOTHING = { type: cmd.cache, length: 0 };

/** Resolves when all that a client has sent is handled as far as possible, and the replies have arrived. */
async function handled({ socket }: NbdClient): Promise<void> {
  const other = await open();
  while (socket.writableLength > 0) await other.request(NOTHING);
  // Each takes a round of the event loop, in which all connections have their turn.
  for (let again = 0; again < 10; again += 1) await other.request(NOTHING);
  await other.close();
}

test.each(both)("reads what was written, at any offset and of any length: %j", async (options) => {
  const client = await open(options);
  for (const length of [1, 511, 512, 4096, 65_537, MIB, 5 * MIB + 3, 32 * MIB]) {
    const [offset, data] = [length % 1000, randomBytes(length)];
    expect((await client.request({ type: cmd.write, offset, data })).errno).toBe(0);
    expectSame(await client.readAt(offset, length), data);
    expectSame(exported.bytes.subarray(offset, offset + length), data);
  }
  await client.close();
});

test.each(both)("answers many requests at once, each with its cookie: %j", async (options) => {
  const client = await open(options);
  randomBytes(SIZE).copy(exported.bytes);
  const reads = Array.from({ length: 3000 }, (_, at) => ({ offset: at * 20_000, length: 4096 }));
  const found = await Promise.all(reads.map(({ offset, length }) => client.readAt(offset, length)));
  for (const [at, { offset, length }] of reads.entries())
    expectSame(found[at]!, exported.bytes.subarray(offset, offset + length));
  await client.close();
});

test("replies to reads with simple replies unless structured ones were negotiated", async () => {
  for (const options of both) {
    const client = await open(options);
    const { chunks } = await client.request({ type: cmd.read, length: 100 });
    expect(chunks.length > 0).toBe(options.structured);
    await client.close();
  }
});

test("sends chunks that cover a read exactly once, the last with DONE", async () => {
  const client = await open();
  const release = exported.hold();
  const request = client.request({ type: cmd.read, offset: 7, length: 10 * MIB + 5 });
  await exported.held;
  release();
  const { chunks, data } = await request;
  expect(chunks.map(({ flags }) => flags)).toEqual([...chunks.slice(1).map(() => 0), 1]);
  let at = 7;
  for (const { type, payload } of chunks) {
    expect([type, Number(payload.readBigUInt64BE())]).toEqual([1, at]);
    at += payload.length - 8;
  }
  expect(at).toBe(10 * MIB + 12);
  expectSame(data, exported.bytes.subarray(7, at));
  await client.close();
});

test.each([65_536, 32 * MIB])("sends a read of %i bytes with DF in one chunk", async (length) => {
  const client = await open();
  for (const wait of [false, true]) {
    const release = wait ? exported.hold() : () => {};
    const request = client.request({ type: cmd.read, flags: flag.df, length });
    if (wait) await exported.held;
    release();
    expect((await request).chunks.length).toBe(1);
  }
  await client.close();
});

test("accepts requests without a length", async () => {
  for (const options of both) {
    const client = await open(options);
    for (const type of [cmd.read, cmd.write, cmd.trim, cmd.zeroes, cmd.cache])
      expect((await client.request({ type, length: 0 })).errno).toBe(0);
    await client.close();
  }
});

test.each([
  [cmd.read, errno.invalid],
  [cmd.trim, errno.invalid],
  [cmd.cache, errno.invalid],
  [cmd.write, errno.noSpace],
  [cmd.zeroes, errno.noSpace],
])(
  "command %i beyond the end fails with %i, and the connection goes on",
  async (type, expected) => {
    const client = await open();
    for (const offset of [SIZE - 1, SIZE, 2 ** 52]) {
      const data = type === cmd.write ? Buffer.alloc(2) : undefined;
      const request = { type, offset, ...(data ? { data } : { length: 2 }) };
      expect((await client.request(request)).errno).toBe(expected);
    }
    expect((await client.request({ type: cmd.flush })).errno).toBe(0);
    expect(exported.calls).toEqual(["flush"]);
    await client.close();
  },
);

test("an offset beyond 2^63 is beyond the end", async () => {
  const client = await open({ structured: false });
  client.send(
    uint32(0x25609513),
    uint32(cmd.read),
    Buffer.alloc(8, 1),
    Buffer.alloc(8, 0xff),
    uint32(1),
  );
  const reply = client.read(16);
  expect((await reply).readUInt32BE(4)).toBe(errno.invalid);
});

test("reads and writes of more than 32 MiB fail, and the connection goes on", async () => {
  for (const options of both) {
    const client = await open(options);
    const length = 32 * MIB + 1;
    const read = await client.request({ type: cmd.read, length });
    expect(read.errno).toBe(options.structured ? errno.overflow : errno.invalid);
    const write = await client.request({ type: cmd.write, data: Buffer.alloc(length) });
    expect(write.errno).toBe(errno.invalid);
    expect((await client.request({ type: cmd.flush })).errno).toBe(0);
    await client.close();
  }
});

test("zeroes and trims more than 32 MiB", async () => {
  const client = await open();
  for (const type of [cmd.zeroes, cmd.trim])
    expect((await client.request({ type, length: SIZE })).errno).toBe(0);
  expect(exported.calls).toEqual([`zeros 0 ${SIZE} true`, `discard 0 ${SIZE}`]);
  await client.close();
});

test.each([8, 100, 65_535])("the unknown command %i fails", async (type) => {
  const client = await open();
  expect((await client.request({ type, length: 512 })).errno).toBe(errno.invalid);
  expect((await client.request({ type: cmd.flush })).errno).toBe(0);
  await client.close();
});

test("flags that are unknown, or of another command, fail", async () => {
  const client = await open({ contexts: ["base:allocation"] });
  const allowed: Readonly<Record<number, number>> = {
    [cmd.read]: flag.df,
    [cmd.zeroes]: flag.noHole | flag.fastZero,
    [cmd.status]: flag.one,
  };
  for (const type of [0, 1, 3, 4, 5, 6, 7]) {
    for (let bit = 1; bit < 16; bit += 1) {
      const isAllowed = ((allowed[type] ?? 0) & (1 << bit)) !== 0;
      if (isAllowed) continue;
      const found = await client.request({ type, flags: 1 << bit, length: 512, ...dataOf(type) });
      expect([type, bit, found.errno]).toEqual([type, bit, errno.invalid]);
    }
  }
  await client.close();
});

const dataOf = (type: number) => (type === cmd.write ? { data: Buffer.alloc(512) } : {});

test("DF is unknown without structured replies", async () => {
  const client = await open({ structured: false });
  const found = await client.request({ type: cmd.read, flags: flag.df, length: 512 });
  expect(found.errno).toBe(errno.invalid);
  await client.close();
});

test("FUA is accepted with every command, and flushes before the reply to a write", async () => {
  const client = await open({ contexts: ["base:allocation"] });
  for (const type of [cmd.read, cmd.flush, cmd.cache, cmd.status]) {
    expect((await client.request({ type, flags: flag.fua, length: 512 })).errno).toBe(0);
  }
  for (const [type, call] of [
    [cmd.write, "write 0 512"],
    [cmd.zeroes, "zeros 0 512 true"],
    [cmd.trim, "discard 0 512"],
  ] as const) {
    exported.calls.length = 0;
    await client.request({ type, flags: flag.fua, length: 512, ...dataOf(type) });
    expect(exported.calls).toEqual([call, "flush"]);
  }
  await client.close();
});

test("a flush is answered when the export has flushed", async () => {
  const client = await open();
  const release = exported.hold();
  let isAnswered = false;
  const flush = client.request({ type: cmd.flush }).then(() => {
    isAnswered = true;
  });
  await exported.held;
  await handled(client);
  expect(isAnswered).toBe(false);
  release();
  await flush;
  await client.close();
});

test("NO_HOLE keeps zeroes from becoming holes, and FAST_ZERO is refused without a change", async () => {
  const client = await open();
  await client.request({ type: cmd.zeroes, flags: flag.noHole, length: 512 });
  const { errno: found } = await client.request({
    ...{ type: cmd.zeroes, flags: flag.fastZero, length: 512 },
  });
  expect(found).toBe(errno.unsupported);
  expect(exported.calls).toEqual(["zeros 0 512 false"]);
  await client.close();
});

test("CACHE prefetches, and does not wait", async () => {
  const client = await open();
  const release = exported.hold();
  expect((await client.request({ type: cmd.cache, offset: 5, length: 512 })).errno).toBe(0);
  expect(exported.calls).toEqual(["prefetch 5 512"]);
  release();
  await client.close();
});

test("a read-only export refuses to be changed", async () => {
  await using other = await NbdServer.listen(
    new MemoryExport(SIZE, true),
    listenOf({ path: path("ro") }),
  );
  expect(other.uri).toContain("ro");
  const client = await NbdClient.open(path("ro"));
  for (const type of [cmd.write, cmd.trim, cmd.zeroes]) {
    const found = await client.request({ type, length: 512, ...dataOf(type) });
    expect(found.errno).toBe(errno.perm);
  }
  expect((await client.readAt(0, 512)).length).toBe(512);
  await client.close();
});

test.each([
  ["ENOSPC", errno.noSpace],
  ["EDQUOT", errno.noSpace],
  ["EFBIG", errno.noSpace],
  ["EIO", errno.io],
  ["EUNKNOWN", errno.io],
  ["ERR_DISK_CLOSED", errno.shutdown],
])("an export that fails with %s is reported as %i", async (code, expected) => {
  for (const options of both) {
    const client = await open(options);
    for (const cause of [undefined, Object.assign(new Error("cause"), { code })]) {
      const own = cause === undefined ? { code } : { cause };
      exported.error = Object.assign(new Error("it failed"), own);
      for (const type of [cmd.read, cmd.write, cmd.flush, cmd.trim, cmd.zeroes]) {
        const found = await client.request({ type, length: 512, ...dataOf(type) });
        expect(found.errno).toBe(expected);
        if (type !== cmd.read || !options.structured) continue;
        expect(found.chunks.at(-1)?.payload.toString()).toContain("it failed");
      }
    }
    exported.error = undefined;
    expect((await client.request({ type: cmd.flush })).errno).toBe(0);
    await client.close();
  }
});

test("an error in the middle of a read ends with an error chunk", async () => {
  const client = await open();
  const release = exported.hold();
  const request = client.request({ type: cmd.read, length: 3 * MIB });
  await exported.held;
  exported.error = new Error("torn");
  release();
  const { chunks, errno: found } = await request;
  expect([found, chunks.at(-1)?.flags]).toEqual([errno.io, 1]);
  await client.close();
});

test("BLOCK_STATUS describes consecutive extents from the offset on", async () => {
  const client = await open({ contexts: ["base:allocation"] });
  exported.bytes.fill(1, 8192, 12_288);
  const { chunks } = await client.request({ type: cmd.status, offset: 4096, length: 16_384 });
  const extents = chunks.map(({ payload }) => payload.subarray(4).toString("hex"));
  expect(chunks.map(({ type, flags }) => [type, flags])).toEqual([[5, 1]]);
  const hex = (...numbers: number[]) => Buffer.concat(numbers.map(uint32)).toString("hex");
  expect(extents).toEqual([hex(4096, 3, 4096, 0, 8192, 3)]);
  await client.close();
});

test("BLOCK_STATUS with REQ_ONE returns one extent that is not longer than the request", async () => {
  const client = await open({ contexts: ["base:allocation"] });
  exported.bytes.fill(1, 8192, 12_288);
  for (const [offset, length, expected] of [
    [0, 100, 100],
    [0, SIZE, 8192],
    [8192, SIZE - 8192, 4096],
  ] as const) {
    const request = { type: cmd.status, flags: flag.one, offset, length };
    const { chunks } = await client.request(request);
    expect(chunks[0]?.payload.length).toBe(12);
    expect(chunks[0]?.payload.readUInt32BE(4)).toBe(expected);
  }
  await client.close();
});

test("BLOCK_STATUS fails without a context, a length, or beyond the end", async () => {
  const without = await open();
  expect((await without.request({ type: cmd.status, length: 512 })).errno).toBe(errno.invalid);
  await without.close();
  const client = await open({ contexts: ["base:allocation"] });
  for (const [offset, length] of [
    [0, 0],
    [SIZE - 1, 2],
  ] as const)
    expect((await client.request({ type: cmd.status, offset, length })).errno).toBe(errno.invalid);
  await client.close();
});

test("DISC waits for requests that are running, and then closes the connection", async () => {
  const client = await open({ structured: false });
  const release = exported.hold();
  const write = client.request({ type: cmd.write, data: Buffer.alloc(512, 7) });
  client.request({ type: cmd.disc }).catch(() => {});
  await exported.held;
  await handled(client);
  expect(client.socket.destroyed).toBe(false);
  release();
  expect((await write).errno).toBe(0);
  await client.closed();
  expect(exported.bytes[0]).toBe(7);
});

test("a request with another magic number closes the connection", async () => {
  const client = await open();
  client.send(Buffer.alloc(28, 1));
  await client.closed();
});

test("a client that goes away amid a write changes nothing, and others go on", async () => {
  const [client, other] = [await open(), await open()];
  const header = [uint32(0x25609513), uint32(cmd.write), Buffer.alloc(16), uint32(MIB)];
  client.send(...header, Buffer.alloc(MIB - 1, 1));
  await handled(client);
  await client.close();
  expect((await other.request({ type: cmd.flush })).errno).toBe(0);
  expect(exported.calls).toEqual(["flush"]);
  await other.close();
});

test("what one connection has written and flushed, others read", async () => {
  const [one, two] = [await open(), await open()];
  const data = randomBytes(10_000);
  await one.request({ type: cmd.write, flags: flag.fua, offset: 1, data });
  expectSame(await two.readAt(1, data.length), data);
  await Promise.all([one.close(), two.close()]);
});

test("a client that does not receive its replies stalls no other, and only a few of its requests run", async () => {
  const [slow, fast] = [await open(), await open()];
  slow.socket.pause();
  const requests = Array.from({ length: 2000 }, () =>
    slow.request({ type: cmd.read, length: 8 * MIB }),
  );
  for (const request of requests) request.catch(() => {});
  for (let again = 0; again < 100; again += 1) await fast.readAt(0, 4096);
  expect(exported.bytesRead).toBeLessThan(40 * MIB);
  await Promise.all([slow.close(), fast.close()]);
});

test("closing the server disconnects a client that does not receive its replies", async () => {
  const slow = await open();
  slow.socket.pause();
  for (let again = 0; again < 100; again += 1)
    slow.request({ type: cmd.read, length: 8 * MIB }).catch(() => {});
  await handled(slow);
  await server!.close();
});

test("a server that is closed waits for running requests, and refuses others", async () => {
  const client = await open();
  const release = exported.hold();
  const write = client.request({ type: cmd.write, data: Buffer.alloc(512, 7) });
  await exported.held;
  const closing = server!.close();
  expect((await client.request({ type: cmd.flush })).errno).toBe(errno.shutdown);
  release();
  expect((await write).errno).toBe(0);
  await closing;
  await client.closed();
  await expect(NbdClient.connect(path("socket"))).rejects.toThrow();
});
