/** The Unix sockets of NBD servers: who removes them, and when. */
import { once } from "node:events";
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { dirname } from "node:path";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { NbdServer } from "../../dist/nbd/server.js";
import { listenOf } from "../../src/nbd/server.js";
import { MemoryExport } from "../support/memory-export.js";
import { NbdClient } from "../support/nbd-client.js";

/** The path of a socket is limited in length. */
const path = temporaryFolder("/tmp");
const listen = (socket: string) =>
  NbdServer.listen(new MemoryExport(4096), listenOf({ path: socket }));

test("a server that is closed removes its socket", async () => {
  const server = await listen(path("own"));
  expect(lstatSync(path("own")).isSocket()).toBe(true);
  await server.close();
  expect(existsSync(path("own"))).toBe(false);
});

/** Returns the server, if it makes one. */
type Replace = (at: string) => Promise<NbdServer | undefined>;

test.each<[string, Replace]>([
  ["a directory", (at) => mkdir(at).then(() => undefined)],
  ["a file", (at) => writeFile(at, "mine").then(() => undefined)],
  ["the socket of another server", listen],
])("a server is closed, and leaves %s that has replaced its socket", async (kind, replace) => {
  const socket = path(kind);
  const server = await listen(socket);
  const client = await NbdClient.open(socket);
  rmSync(socket);
  const other = await replace(socket);
  const { ino } = lstatSync(socket);
  await server.close();
  await client.closed();
  expect(lstatSync(socket).ino).toBe(ino);
  await other?.close();
});

test("a server is closed although its socket cannot be removed", async () => {
  mkdirSync(path("folder"));
  const socket = path("folder", "socket");
  const server = await listen(socket);
  const client = await NbdClient.open(socket);
  rmSync(dirname(socket), { recursive: true });
  writeFileSync(dirname(socket), "");
  await server.close();
  await client.closed();
});

/** Makes a socket that nobody listens on. */
async function leaveSocket(at: string): Promise<void> {
  const server = createServer().listen(`${at}-live`);
  await once(server, "listening");
  linkSync(`${at}-live`, at);
  server.close();
  await once(server, "close");
}

test.each([
  ["a path", async () => {}],
  ["the path of a socket that a killed server has left", leaveSocket],
])("of many servers that begin to listen at %s, one does", async (kind, prepare) => {
  mkdirSync(path(`folder of ${kind}`));
  const socket = path(`folder of ${kind}`, "s");
  await prepare(socket);
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => listen(socket)));
  const [server, ...others] = results.flatMap((one) =>
    one.status === "fulfilled" ? one.value : [],
  );
  expect(others).toEqual([]);
  for (const one of results)
    if (one.status === "rejected") expect(one.reason).toMatchObject({ code: "ERR_TARGET" });
  await (await NbdClient.open(socket)).close();
  expect(readdirSync(dirname(socket))).toEqual(["s"]);
  await server?.close();
  expect(readdirSync(dirname(socket))).toEqual([]);
});
