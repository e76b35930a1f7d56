/** Clients of the NBD server that break the rules, or vanish: nobody else notices, and nothing piles up. */

import { lstatSync, readdirSync } from "node:fs";
import { Server } from "node:net";
import { basename, dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { NbdServer } from "../../dist/nbd/server.js";
import { listenOf } from "../../src/nbd/server.js";
import { MemoryExport } from "../support/memory-export.js";
import { NBD, NbdClient, uint32 } from "../support/nbd-client.js";

const { cmd, opt } = NBD;
const MIB = 2 ** 20;
/** The longest name of an export. */
const NAME = "n".repeat(4096);
const path = temporaryFolder();
let [exported, server] = [new MemoryExport(0), undefined as NbdServer | undefined];

beforeEach(async () => {
  exported = new MemoryExport(16 * MIB);
  server = await NbdServer.listen(exported, listenOf({ path: path("socket"), name: NAME }));
});

afterEach(async () => {
  vi.useRealTimers();
  await server?.close();
});

/** Sends bytes again and again until the connection is closed, or does not take any more. Returns whether it is closed. */
async function flood(client: NbdClient, bytes: Buffer, count: number): Promise<boolean> {
  for (let sent = 0; sent < count && !client.socket.destroyed; sent += 1) {
    client.socket.write(bytes);
    await sleep(1);
  }
  return client.socket.destroyed;
}

test("a client that sends options and does not receive the replies is disconnected", async () => {
  const client = await NbdClient.connect(path("socket"));
  await client.greet();
  client.socket.pause();
  const list = Buffer.concat([Buffer.from("IHAVEOPT"), uint32(opt.list), uint32(0)]);
  // Each batch leads to 4 MiB of replies.
  const batch = Buffer.concat(Array.from({ length: 1000 }, () => list));
  expect(await flood(client, batch, 1000)).toBe(true);
});

test("what a client sends after DISC is not kept", async () => {
  const client = await NbdClient.open(path("socket"), { name: NAME });
  const release = exported.hold();
  const write = client.request({ type: cmd.write, data: Buffer.alloc(512, 7) });
  client.request({ type: cmd.disc }).catch(() => {});
  await flood(client, Buffer.alloc(MIB), 32);
  await sleep(50);
  expect(client.socket.writableLength).toBeGreaterThan(24 * MIB);
  release();
  expect((await write).errno).toBe(0);
  await client.closed();
});

test("a client that sends more after ABORT, and does not receive the reply, is disconnected", async () => {
  const client = await NbdClient.connect(path("socket"));
  await client.greet();
  client.socket.pause();
  client.sendOption(opt.abort);
  expect(await flood(client, Buffer.alloc(MIB), 100)).toBe(true);
});

test("closing the server does not wait for requests that never end", async () => {
  const client = await NbdClient.open(path("socket"), { name: NAME });
  const release = exported.hold();
  client.request({ type: cmd.read, length: 512 }).catch(() => {});
  await sleep(50);
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const closing = server!.close();
  await vi.advanceTimersByTimeAsync(5_000);
  await closing;
  await client.closed();
  release();
});

test("a client that vanishes while the server is closed does not fail the close", async () => {
  const client = await NbdClient.open(path("socket"), { name: NAME });
  client.socket.pause();
  for (let again = 0; again < 8; again += 1)
    client.request({ type: cmd.read, length: 4 * MIB }).catch(() => {});
  await sleep(50);
  const closing = server!.close();
  await sleep(50);
  client.socket.destroy();
  await expect(closing).resolves.toBeUndefined();
});

test("errors of accepting a connection do not end the process", async () => {
  const servers: Server[] = [];
  const { listen } = Server.prototype;
  const spy = vi.spyOn(Server.prototype, "listen").mockImplementation(function (
    this: Server,
    ...args: unknown[]
  ) {
    servers.push(this);
    return (listen as (...args: unknown[]) => Server).apply(this, args);
  });
  await using other = await NbdServer.listen(exported, listenOf({ path: path("other") }));
  spy.mockRestore();
  expect(other.uri).toContain("other");
  for (let again = 0; again < 2; again += 1) servers[0]!.emit("error", new Error("accept EMFILE"));
  await (await NbdClient.open(path("other"))).close();
});

test("nobody else can connect before the socket has its mode", async () => {
  const modes: number[] = [];
  const { listen } = Server.prototype;
  const spy = vi.spyOn(Server.prototype, "listen").mockImplementation(function (
    this: Server,
    ...args: unknown[]
  ) {
    const { path: found } = args[0] as { path: string };
    modes.push(lstatSync(dirname(found)).mode & 0o777);
    return (listen as (...args: unknown[]) => Server).apply(this, args);
  });
  await using other = await NbdServer.listen(exported, listenOf({ path: path("private") }));
  spy.mockRestore();
  expect(other.uri).toContain("private");
  expect(modes).toEqual([0o700]);
  expect(lstatSync(path("private")).mode & 0o777).toBe(0o600);
  const left = readdirSync(path("")).filter((name) => name.startsWith("private"));
  expect(left).toEqual([basename(path("private"))]);
});
