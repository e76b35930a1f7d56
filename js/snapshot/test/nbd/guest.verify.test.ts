/** Guests in QEMU whose disk is that of a snapshot on a slow server, over NBD. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSnapshot, openSnapshot } from "@hedgerow/snapshot";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

import { type Origin, startOrigin } from "../../../../tests/origin/origin.mjs";
import { Guest, makeGuestImage } from "../../../../tests/support/guest/guest.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { letters } from "../../../../tests/support/snapshots/image.js";
import { DiskProcess } from "../support/disk-process.js";

const MIB = 2 ** 20;

const path = temporaryFolder();

/** The data that the guest has in `/data`, and its digest. */
const data = letters("data of the guest", 8 * MIB);
const digest = createHash("sha256").update(data).digest("hex");

/** Serves the snapshot as `/a.vhs`. */
let origin: Origin;

beforeAll(async () => {
  makeGuestImage(path("image"), "64M", (tree) => writeFileSync(join(tree, "data"), data));
  await createSnapshot(path("image"), path("a.vhs"), { workers: 1 });
  const conditions = { bytesPerSecond: 4 * MIB, firstByte: 20 };
  origin = await startOrigin({ files: { "/a.vhs": readFileSync(path("a.vhs")) }, conditions });
});
afterAll(() => origin.close());

/** Starts a guest, which ends with the test at the latest. @param more options of QEMU's NBD client */
async function start(socket: string, more = ""): Promise<Guest> {
  const guest = await Guest.start(
    `format=raw,file.driver=nbd,file.server.type=unix,file.server.path=${socket}${more}`,
  );
  onTestFinished(() => guest.kill());
  return guest;
}

test("a guest whose server is killed goes on when it is back, with what it flushed", async () => {
  const socket = path("killed.sock");
  const serve = async () => {
    const options = { image: path("killed"), workers: 1 };
    const server = await DiskProcess.start(origin.url("/a.vhs").href, options, socket, "killed");
    onTestFinished(() => server.kill());
    return server;
  };
  let server = await serve();
  const guest = await start(socket, ",file.export=killed,file.reconnect-delay=30");
  await guest.run("echo kept > /flushed; sync");
  await server.kill();
  // The guest reads missing data and writes while no server is running.
  const reads = guest.run("sha256sum /data; cat /data > /copy; sync; sha256sum /copy");
  server = await serve();
  expect((await reads).split(digest)).toHaveLength(3);
  expect(await guest.run("cat /flushed")).toContain("kept");
  await guest.powerOff();
  await server.close();
});

test("a guest boots from a disk that is being filled, and from what it saved", async () => {
  const first = await openSnapshot(origin.url("/a.vhs"), { image: path("first"), workers: 1 });
  onTestFinished(() => first.close());
  await first.listen({ path: path("first.sock") });
  const guest = await start(path("first.sock"));
  expect(await guest.run("sha256sum /data")).toContain(digest);
  await guest.run("cat /data /data > /copy");
  await guest.powerOff();
  await first.save(path("b.vhs"));

  const second = await openSnapshot(path("b.vhs"), {
    ...{ image: path("second"), workers: 1 },
    resolve: () => path("a.vhs"),
  });
  onTestFinished(() => second.close());
  await second.listen({ path: path("second.sock") });
  const resumed = await start(path("second.sock"));
  const copy = createHash("sha256").update(data).update(data).digest("hex");
  expect(await resumed.run("sha256sum /copy")).toContain(copy);
});
