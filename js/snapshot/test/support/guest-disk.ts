/** Guests in QEMU whose disk is that of a snapshot on a slow server, for tests. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSnapshot } from "@hedgerow/snapshot";
import { afterAll, beforeAll, onTestFinished } from "vitest";

import { type Origin, startOrigin } from "../../../../tests/origin/origin.mjs";
import { Guest, makeGuestImage } from "../../../../tests/support/guest/guest.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { letters } from "../../../../tests/support/snapshots/image.js";

const MIB = 2 ** 20;

export const path = temporaryFolder();

/** The data that the guest has in `/data`, and its digest. */
export const data = letters("data of the guest", 8 * MIB);
export const digest = createHash("sha256").update(data).digest("hex");

/** Serves the snapshot as `/a.vhs`. */
export let origin: Origin;

beforeAll(async () => {
  makeGuestImage(path("image"), "64M", (tree) => writeFileSync(join(tree, "data"), data));
  await createSnapshot(path("image"), path("a.vhs"), { workers: 1 });
  const conditions = { bytesPerSecond: 4 * MIB, firstByte: 20 };
  origin = await startOrigin({ files: { "/a.vhs": readFileSync(path("a.vhs")) }, conditions });
});
afterAll(() => origin.close());

/** Starts a guest, which ends with the test at the latest. @param more options of QEMU's NBD client */
export async function start(socket: string, more = ""): Promise<Guest> {
  const guest = await Guest.start(
    `format=raw,file.driver=nbd,file.server.type=unix,file.server.path=${socket}${more}`,
  );
  onTestFinished(() => guest.kill());
  return guest;
}
