/** The handshake of the NBD server: each duty of `doc/proto.md` is a test. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { NbdServer } from "../../dist/nbd/server.js";
import { listenOf } from "../../src/nbd/server.js";
import { MemoryExport } from "../support/memory-export.js";
import { infoQuery, metaQuery, NBD, NbdClient, uint32 } from "../support/nbd-client.js";

const { opt, rep } = NBD;
const path = temporaryFolder();
const exported = new MemoryExport(2 ** 20);
let server: NbdServer;

beforeAll(async () => {
  server = await NbdServer.listen(exported, listenOf({ path: path("socket"), name: "disk" }));
});

afterAll(() => server.close());

const connect = () => NbdClient.connect(path("socket"));

async function greeted(flags = 3): Promise<NbdClient> {
  const client = await connect();
  await client.greet(flags);
  return client;
}

const types = (replies: readonly { readonly type: number }[]) => replies.map(({ type }) => type);

test("greets with NBDMAGIC, IHAVEOPT, fixed newstyle and no zeroes", async () => {
  const client = await connect();
  expect((await client.read(18)).toString("hex")).toBe(
    `${Buffer.from("NBDMAGICIHAVEOPT").toString("hex")}0003`,
  );
  await client.close();
});

test.each([4, 0x8000_0000, 7])(
  "closes the connection at the unknown client flags %i",
  async (flags) => {
    const client = await connect();
    await client.greet(flags);
    expect((await client.closed()).length).toBe(0);
  },
);

test("closes the connection at an option with another magic number", async () => {
  const client = await greeted();
  client.send(Buffer.from("IHAVENOT"), uint32(opt.list), uint32(0));
  expect((await client.closed()).length).toBe(0);
});

test.each([opt.peek, 11, 0x1234_5678])(
  "answers the unknown option %i with ERR_UNSUP, and parses the next message",
  async (option) => {
    const client = await greeted();
    for (const length of [0, 5, 65_536, 200_000]) {
      const expected = length > 65_536 ? rep.tooBig : rep.unsupported;
      expect(types(await client.option(option, Buffer.alloc(length)))).toEqual([expected]);
    }
    expect(types(await client.option(opt.list))).toEqual([rep.server, rep.ack]);
    await client.close();
  },
);

test("repeats the option in every reply", async () => {
  const client = await greeted();
  for (const option of [opt.list, opt.structured, 77]) {
    for (const reply of await client.option(option)) expect(reply.option).toBe(option);
  }
  await client.close();
});

test("answers ABORT with ACK, also with data, and closes the connection", async () => {
  for (const data of [Buffer.alloc(0), Buffer.from("bye")]) {
    const client = await greeted();
    expect(types(await client.option(opt.abort, data))).toEqual([rep.ack]);
    expect((await client.closed()).length).toBe(0);
  }
});

test("survives a client that sends ABORT and does not wait", async () => {
  const client = await greeted();
  client.sendOption(opt.abort);
  client.socket.destroy();
  await (await greeted()).close();
});

test("lists the export, and refuses LIST with data", async () => {
  const client = await greeted();
  const [found] = await client.option(opt.list);
  expect(found?.data).toEqual(Buffer.concat([uint32(4), Buffer.from("disk")]));
  expect(types(await client.option(opt.list, Buffer.from("x")))).toEqual([rep.invalid]);
  await client.close();
});

test("enters transmission by EXPORT_NAME with the name of the export", async () => {
  for (const [flags, zeroes] of [
    [3, 0],
    [1, 124],
    [0, 124],
  ] as const) {
    const client = await greeted(flags);
    client.sendOption(opt.exportName, Buffer.from("disk"));
    const reply = await client.read(10 + zeroes);
    expect(Number(reply.readBigUInt64BE())).toBe(2 ** 20);
    expect(reply.readUInt16BE(8) & 1).toBe(1);
    expect(reply.subarray(10).every((byte) => byte === 0)).toBe(true);
    client.start();
    expect((await client.request({ type: NBD.cmd.flush })).errno).toBe(0);
    await client.close();
  }
});

test("closes the connection at EXPORT_NAME with a name that it does not know, or is too long", async () => {
  for (const name of ["", "other", "x".repeat(70_000)]) {
    const client = await greeted();
    client.sendOption(opt.exportName, Buffer.from(name));
    expect((await client.closed()).length).toBe(0);
  }
});

test("INFO and GO send NBD_INFO_EXPORT, and what was asked for", async () => {
  const client = await greeted();
  for (const option of [opt.info, opt.info, opt.go]) {
    const replies = await client.option(option, infoQuery("disk", [3, 1, 4242]));
    expect(types(replies)).toEqual([rep.info, rep.info, rep.info, rep.ack]);
    const byType = new Map(replies.slice(0, 3).map(({ data }) => [data.readUInt16BE(), data]));
    expect(byType.get(0)?.length).toBe(12);
    expect(Number(byType.get(0)?.readBigUInt64BE(2))).toBe(2 ** 20);
    expect(byType.get(1)?.subarray(2).toString()).toBe("disk");
    expect(byType.get(3)?.toString("hex")).toBe("0003000000010000100002000000");
  }
  client.start();
  expect((await client.request({ type: NBD.cmd.flush })).errno).toBe(0);
  await client.close();
});

test("INFO sends only what was asked for", async () => {
  const client = await greeted();
  expect(types(await client.option(opt.info, infoQuery("disk")))).toEqual([rep.info, rep.ack]);
  await client.close();
});

test.each([opt.info, opt.go])(
  "option %i refuses an unknown export, and goes on",
  async (option) => {
    const client = await greeted();
    for (const name of ["", "other", "disk2"])
      expect(types(await client.option(option, infoQuery(name)))).toEqual([rep.unknown]);
    expect(types(await client.option(option, infoQuery("disk")))).toEqual([rep.info, rep.ack]);
    await client.close();
  },
);

test.each([opt.info, opt.go])(
  "option %i refuses data that is no valid query, and goes on",
  async (option) => {
    const client = await greeted();
    const whole = infoQuery("disk", [3, 1]);
    const invalid = [
      Buffer.alloc(0),
      ...[1, 3, 5, 9, 11].map((length) => whole.subarray(0, length)),
      Buffer.concat([whole, Buffer.alloc(1)]),
      Buffer.concat([uint32(0xffff_ffff), whole.subarray(4)]),
      Buffer.concat([uint32(5000), Buffer.alloc(5000 + 2)]),
    ];
    for (const data of invalid)
      expect(types(await client.option(option, data))).toEqual([rep.invalid]);
    expect(types(await client.option(option, whole)).at(-1)).toBe(rep.ack);
    await client.close();
  },
);

test("STRUCTURED_REPLY is acknowledged, again too, and refused with data", async () => {
  const client = await greeted();
  expect(types(await client.option(opt.structured, Buffer.alloc(1)))).toEqual([rep.invalid]);
  for (let again = 0; again < 2; again += 1) {
    expect(types(await client.option(opt.structured))).toEqual([rep.ack]);
  }
  await client.close();
});

test("SEND_DF is set only with structured replies", async () => {
  const client = await greeted();
  const flagsOf = async () => {
    const [info] = await client.option(opt.info, infoQuery("disk"));
    return info?.data.readUInt16BE(10) ?? 0;
  };
  expect((await flagsOf()) & 128).toBe(0);
  await client.option(opt.structured);
  expect((await flagsOf()) & 128).toBe(128);
  await client.close();
});

test("offers flush, FUA, trim, zeroes, cache and several connections; without writes if read-only", async () => {
  const client = await greeted();
  const [info] = await client.option(opt.info, infoQuery("disk"));
  expect(info?.data.readUInt16BE(10)).toBe(1 | 4 | 8 | 32 | 64 | 256 | 1024 | 2048);
  await client.close();
  await using other = await NbdServer.listen(
    new MemoryExport(4096, true),
    listenOf({ path: path("read-only") }),
  );
  expect(other.uri).toMatch(/^nbd\+unix:\/\/\/\?socket=/);
  const reader = await NbdClient.connect(path("read-only"));
  await reader.greet();
  const [found] = await reader.option(opt.info, infoQuery(""));
  expect(found?.data.readUInt16BE(10)).toBe(1 | 2 | 4 | 8 | 256 | 1024);
  await reader.close();
});

test.each([opt.listMeta, opt.setMeta])("option %i needs structured replies", async (option) => {
  const client = await greeted();
  const replies = await client.option(option, metaQuery("disk", ["base:allocation"]));
  expect(types(replies)).toEqual([rep.invalid]);
  await client.close();
});

/** Returns the names of the metadata contexts in replies. */
const contextsIn = (replies: readonly { readonly type: number; readonly data: Buffer }[]) =>
  replies.filter(({ type }) => type === rep.meta).map(({ data }) => data.subarray(4).toString());

test.each([
  [[], ["base:allocation"]],
  [["base:"], ["base:allocation"]],
  [["base:allocation"], ["base:allocation"]],
  [["base:other", "qemu:dirty-bitmap:x", "x-other:"], []],
] as const)("LIST_META_CONTEXT with %j returns %j", async (queries, expected) => {
  const client = await greeted();
  await client.option(opt.structured);
  const replies = await client.option(opt.listMeta, metaQuery("disk", queries));
  expect(contextsIn(replies)).toEqual(expected);
  expect(replies.at(-1)?.type).toBe(rep.ack);
  await client.close();
});

test.each([
  [[], []],
  [["base:"], []],
  [["unknown:x", "base:allocation"], ["base:allocation"]],
] as const)(
  "SET_META_CONTEXT with %j selects %j, each with its own ID",
  async (queries, expected) => {
    const client = await greeted();
    await client.option(opt.structured);
    const replies = await client.option(opt.setMeta, metaQuery("disk", queries));
    expect(contextsIn(replies)).toEqual(expected);
    const ids = replies
      .filter(({ type }) => type === rep.meta)
      .map(({ data }) => data.readUInt32BE());
    expect(new Set(ids).size).toBe(ids.length);
    await client.close();
  },
);

test("SET_META_CONTEXT refuses queries that are cut off, and unknown exports, and then nothing is selected", async () => {
  const client = await greeted();
  await client.option(opt.structured);
  const whole = metaQuery("disk", ["base:allocation"]);
  for (let length = 0; length < whole.length; length += 1) {
    const replies = await client.option(opt.setMeta, whole.subarray(0, length));
    expect(types(replies)).toEqual([rep.invalid]);
  }
  await client.option(opt.setMeta, whole);
  const other = await client.option(opt.setMeta, metaQuery("other", ["base:allocation"]));
  expect(types(other)).toEqual([rep.unknown]);
  await client.option(opt.go, infoQuery("disk"));
  client.isStructured = true;
  client.start();
  const { errno } = await client.request({ type: NBD.cmd.status, length: 4096 });
  expect(errno).toBe(NBD.errno.invalid);
  await client.close();
});

test("STARTTLS is not supported without certificates, and other options never ask for it", async () => {
  const client = await greeted();
  expect(types(await client.option(opt.startTls))).toEqual([rep.unsupported]);
  expect(types(await client.option(opt.info, infoQuery("other")))).toEqual([rep.unknown]);
  await client.close();
});

test("a client may send everything byte by byte", async () => {
  const client = await connect();
  await client.read(18);
  const bytes = Buffer.concat([
    uint32(3),
    Buffer.from("IHAVEOPT"),
    uint32(opt.go),
    uint32(infoQuery("disk").length),
    infoQuery("disk"),
  ]);
  for (const byte of bytes) {
    client.send(Buffer.of(byte));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect((await client.optionReply()).type).toBe(rep.info);
  expect((await client.optionReply()).type).toBe(rep.ack);
  await client.close();
});
