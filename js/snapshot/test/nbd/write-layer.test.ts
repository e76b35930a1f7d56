/** Servers that accept writes and leave the disk as it is. */
import { writeFileSync } from "node:fs";
import { expect, test } from "vitest";

import { seededRandom } from "../../../../tests/origin/random.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { createSnapshot, openSnapshot } from "../../dist/index.js";
import { NbdServer } from "../../dist/nbd/server.js";
import { WriteLayer } from "../../dist/nbd/write-layer.js";
import { listenOf } from "../../src/nbd/server.js";
import { MemoryExport } from "../support/memory-export.js";
import { NBD, NbdClient } from "../support/nbd-client.js";
import { openFiles } from "../support/open-files.js";

const { cmd, errno } = NBD;
const SIZE = 40 * 4096 + 1000;
const path = temporaryFolder();

/** Returns the open files in a folder that have no name any more. */
const unnamedFiles = (folder: string) =>
  openFiles(folder).filter((file) => file.endsWith(" (deleted)"));

test("what clients write reads back, also in parts of blocks, and what is below stays", async () => {
  const random = seededRandom(43);
  const exported = new MemoryExport(SIZE, true);
  const original = noise("below", SIZE);
  exported.bytes.set(original);
  const seen = Buffer.from(original);
  const layer = await WriteLayer.over(exported, path());
  const server = await NbdServer.listen(layer, listenOf({ path: path("socket") }));
  const client = await NbdClient.open(path("socket"));
  for (let round = 0; round < 50; round += 1) {
    // Neighbours that share blocks, at the same time.
    const cuts = Array.from({ length: 5 }, () => Math.floor(random() * SIZE)).sort((a, b) => a - b);
    const replies = cuts.slice(1).map((end, at) => {
      const [offset, length] = [cuts[at]!, end - cuts[at]!];
      const data = at === 1 ? Buffer.alloc(length) : noise(`${round} ${at}`, length);
      seen.set(data, offset);
      const type = at === 1 ? cmd.zeroes : cmd.write;
      return client.request({ type, offset, ...(at === 1 ? { length } : { data }) });
    });
    for (const reply of await Promise.all(replies)) expect(reply.errno).toBe(0);
    expectSame(await client.readAt(0, SIZE), seen);
  }
  await client.close();
  await server.close();
  expectSame(exported.bytes, original);
  expect(unnamedFiles(path())).toEqual([]);
});

test("a read-only disk is written to until its server is closed, and is as before", async () => {
  const image = noise("image", SIZE);
  writeFileSync(path("image"), image);
  await createSnapshot(path("image"), path("image.vhs"), { workers: 1 });
  const options = { image: path("local"), readOnly: true, workers: 1 };
  await using disk = await openSnapshot(path("image.vhs"), options);
  await disk.filled;
  const listen = { path: path("socket"), discardWrites: true };
  const data = Buffer.from("new");
  for (const _ of ["once", "again"]) {
    await using server = await disk.listen(listen);
    expect(server.uri).toContain("socket");
    const client = await NbdClient.open(path("socket"));
    expectSame(await client.readAt(0, SIZE), image);
    expect((await client.request({ type: cmd.write, offset: 5, data })).errno).toBe(0);
    expect((await client.request({ type: cmd.flush })).errno).toBe(0);
    expectSame(await client.readAt(5, 3), data);
    expectSame(await disk.read(0, SIZE), image);
    await client.close();
  }
  expect(disk.changedBytes).toBe(0);
  expect(unnamedFiles(path())).toEqual([]);
  // Without the option, it refuses writes; and a server that cannot start leaves nothing open.
  await using server = await disk.listen({ path: path("other") });
  expect(server.uri).toContain("other");
  const client = await NbdClient.open(path("other"));
  expect((await client.request({ type: cmd.write, data })).errno).toBe(errno.perm);
  await client.close();
  await expect(disk.listen({ ...listen, path: path("other") })).rejects.toThrow(
    "another server is listening",
  );
  expect(unnamedFiles(path())).toEqual([]);
});
