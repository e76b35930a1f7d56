import { once } from "node:events";
import { copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { createSnapshot, restoreSnapshot } from "@hedgerow/snapshot";
import { beforeAll, expect, test, vi } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { trials } from "../../../../tests/support/trials.js";
import { memoryDisk } from "../../../snapshot/test/support/loop-disk.js";
import { infoQuery, NBD, NbdClient } from "../../../snapshot/test/support/nbd-client.js";
import { ended, hedgerow, start, startInTerminal } from "../support/bin.js";
import { started } from "../support/disk.js";
import { SMALL } from "../support/images.js";
import { makeTree } from "../support/tree.js";

const { cmd, errno, opt, rep } = NBD;
const BLOCK = Buffer.alloc(4096, "new");

const original = temporaryFolder();
const smallFile = original("small.vhs");

/** The identity of the snapshot of a small image. */
let digest: string;

beforeAll(async () => {
  writeFileSync(original("small.img"), SMALL);
  ({ digest } = await createSnapshot(original("small.img"), smallFile, { workers: 1 }));
});

/** Copies the snapshot of a small image to a folder of its own. */
function smallSnapshot() {
  const root = makeTree();
  const [file, image, socket] = ["disk.vhs", "local.img", "socket"].map((name) =>
    join(root, name),
  ) as [string, string, string];
  copyFileSync(smallFile, file);
  return { root, file, image, socket };
}

test.each((["SIGTERM", "SIGINT"] as const).slice(0, trials({ few: 1, all: 2 })))(
  "serves a disk until %s, and what was written is in the image the next time",
  async (signal) => {
    const { root, file, image, socket } = smallSnapshot();
    const uri = `nbd+unix:///?socket=${socket}`;
    const open = ["open", file, "--image", image, "--socket", socket];
    const first = await started(open);
    expect(first.out).toBe(`${uri}\n`);
    const client = await NbdClient.open(socket);
    expect((await client.readAt(0, SMALL.length)).equals(SMALL)).toBe(true);
    expect((await client.request({ type: cmd.write, data: BLOCK })).errno).toBe(0);
    expect(await first.stop(signal)).toEqual({ code: signal, out: `${uri}\n`, err: "" });
    await client.close();
    const left = readdirSync(root).filter((name) => !name.startsWith(".hedgerow-"));
    expect(left).not.toContain("socket");

    const second = await started([...open, "--json"]);
    const again = await NbdClient.open(socket);
    expect((await again.readAt(0, 4096)).equals(BLOCK)).toBe(true);
    expect((await second.stop(signal)).code).toBe(signal);
    await again.close();
  },
);

test("prints one JSON object, listens on a port, and refuses writes with --read-only", async () => {
  const { file, image } = smallSnapshot();
  const args = ["open", file, "--image", image, "--port", "0", "--json", "--read-only"];
  const { out, stop } = await started(args);
  const { uri, ...facts } = JSON.parse(out) as { uri: string };
  expect(facts).toEqual({ path: image, digest, size: SMALL.length });
  const client = await NbdClient.open({ port: Number(new URL(uri).port) });
  expect((await client.request({ type: cmd.write, data: BLOCK })).errno).toBe(errno.perm);
  expect((await client.readAt(0, 512)).equals(SMALL.subarray(0, 512))).toBe(true);
  expect(await stop("SIGTERM")).toMatchObject({ code: "SIGTERM", err: "" });
  await client.close();
});

const tiny = memoryDisk(256 * 1024);

test("warns of a file system that is smaller than the data, and serves all of it", async () => {
  const { file, socket } = smallSnapshot();
  const args = ["open", file, "--image", tiny.path("local.img"), "--socket", socket];
  const { stop } = await started(args);
  const client = await NbdClient.open(socket);
  for (let round = 0; round < 2; round += 1)
    expect((await client.readAt(0, SMALL.length)).equals(SMALL)).toBe(true);
  const data = Buffer.alloc(2 ** 19, 1);
  const request = { type: cmd.write, offset: 2 ** 20, data };
  expect((await client.request(request)).errno).toBe(errno.noSpace);
  await client.close();
  const { code, err } = await stop("SIGTERM");
  expect(code).toBe("SIGTERM");
  expect(err).toMatch(/^hedgerow: .*local.img: .* of data is to arrive and .* is free: .*\n$/);
});

test("refuses clients that do not ask for the name of --export-name", async () => {
  const { file, image, socket } = smallSnapshot();
  const args = ["open", file, "--image", image, "--socket", socket, "--export-name", "vm-1"];
  const { out, stop } = await started(args);
  expect(out).toBe(`nbd+unix:///vm-1?socket=${socket}\n`);
  const other = await NbdClient.connect(socket);
  await other.greet();
  expect(await other.option(opt.go, infoQuery(""))).toMatchObject([{ type: rep.unknown }]);
  await other.close();
  const client = await NbdClient.open(socket, { name: "vm-1" });
  expect((await client.readAt(0, 512)).equals(SMALL.subarray(0, 512))).toBe(true);
  await stop("SIGTERM");
  await client.close();
});

test("completes the image with --fill all, and not with --fill none", async () => {
  const { file, image, socket } = smallSnapshot();
  const args = ["open", file, "--image", image, "--socket", socket];
  const none = await started([...args, "--fill", "none"]);
  const client = await NbdClient.open(socket);
  await client.readAt(0, 512);
  await none.stop("SIGTERM");
  await client.close();
  expect(() => readFileSync(image)).toThrow("ENOENT");

  const all = await started([...args, "--fill-rate", "1GiB", "--workers", "1"]);
  await vi.waitUntil(() => readdirSync(join(image, "..")).includes("local.img"), 20_000);
  expect((await all.stop("SIGTERM")).code).toBe("SIGTERM");
  expect(readFileSync(image).equals(SMALL)).toBe(true);
});

test("says why a save failed at the end", async () => {
  const { root, file, image, socket } = smallSnapshot();
  const args = ["open", file, "--image", image, "--socket", socket];
  const save = join(root, "none", "delta.vhs");
  const { stop } = await started([...args, "--save", save]);
  const { code, err } = await stop("SIGTERM");
  expect(code).toBe(3);
  expect(err).toMatch(/^hedgerow: cannot write .*delta\.vhs.*\n$/);
});

test("saves all that clients have written, and disconnects them first", async () => {
  const { root, file, image, socket } = smallSnapshot();
  const delta = join(root, "delta.vhs");
  const args = ["open", file, "--image", image, "--socket", socket, "--save", delta];
  const { child, stop } = await started(args);
  const client = await NbdClient.open(socket);
  let written = 0;
  const writing = (async () => {
    for (;;) {
      const data = Buffer.alloc(512, 1 + (written % 255));
      await client.request({ type: cmd.write, offset: 512 * (written % 64), data });
      written += 1;
    }
  })();
  const ended = expect(writing).rejects.toThrow();
  await vi.waitUntil(() => written > 100 || child.exitCode !== null, 30_000);
  expect((await stop("SIGTERM")).code).toBe("SIGTERM");
  await ended;
  await restoreSnapshot(delta, join(root, "restored"));
  const restored = readFileSync(join(root, "restored"));
  for (const back of Array(64).keys()) {
    const last = written - 1 - back;
    // The request that was cut off may have been written, too.
    if (last % 64 === written % 64) continue;
    expect(restored[512 * (last % 64)], `write ${last} of ${written}`).toBe(1 + (last % 255));
  }
});

test("ends and cleans up if nobody reads its output", async () => {
  const { file, image, socket } = smallSnapshot();
  const child = start(["disk", "open", file, "--image", image, "--socket", socket]);
  child.stdout.destroy();
  expect((await ended(child)).code).toBe(0);
  expect(existsSync(socket)).toBe(false);
});

test("warns if the disk cannot be completed, and serves what is there", async () => {
  const { root, file, image, socket } = smallSnapshot();
  const bytes = readFileSync(file);
  bytes[1000] = bytes[1000]! ^ 1;
  const damaged = join(root, "damaged.vhs");
  writeFileSync(damaged, bytes);
  const args = ["open", damaged, "--image", image, "--socket", socket];
  const { child, stop } = await started(args);
  await once(child.stderr, "data");
  const client = await NbdClient.open(socket);
  const at = SMALL.length - 100;
  expect((await client.readAt(at, 100)).equals(SMALL.subarray(at))).toBe(true);
  const { code, err } = await stop("SIGTERM");
  expect(code).toBe("SIGTERM");
  expect(err).toMatch(/^hedgerow: the disk will not be complete: .*\n$/);
  await client.close();
});

test("shows the progress of the fill on a terminal", async () => {
  const { file, image, socket } = smallSnapshot();
  const args = ["disk", "open", file, "--image", image, "--socket", socket, "--fill", "none"];
  const child = startInTerminal(80, args);
  const end = ended(child);
  let shown = "";
  child.stdout.on("data", (data) => {
    shown += stripVTControlCharacters(String(data));
  });
  await vi.waitUntil(() => /filling [█░]+ +0 %/.test(shown), 20_000);
  child.stdin.write("\u0003");
  const { code, out } = await end;
  expect([code, stripVTControlCharacters(out)]).toEqual([130, expect.stringContaining("nbd+unix")]);
});

test.for([
  [["open", "a"], "required option '--image <file>' not specified"],
  [["open", "a", "--image", "b"], "--socket and --port: expected one of them, found neither"],
  [["open", "a", "--image", "b", "--socket", "c", "--port", "1"], "found both"],
  [["open", "a", "--image", "b", "--socket", "c", "--fill", "some"], "Allowed choices are all"],
  [["open", "a", "--image", "b", "--socket", "c", "--on-stall", "x"], "Allowed choices are wait"],
  [["open", "a", "--image", "b", "--socket", "c", "--fill-rate", "0"], "fillBytesPerSecond"],
] as const)("refuses the command line %j", async ([args, message]) => {
  const { code, out, err } = await hedgerow(["disk", ...args]);
  expect({ code, out }).toEqual({ code: 2, out: "" });
  expect(err.trimEnd().split("\n").at(-1)).toContain(message);
});

test("fails if the disk cannot be opened, or the socket not be made", async () => {
  const { root, file, image, socket } = smallSnapshot();
  const missing = join(root, "missing.vhs");
  const place = ["--image", image, "--socket", socket];
  expect(await hedgerow(["disk", "open", missing, ...place])).toMatchObject({
    ...{ code: 3, out: "", err: expect.stringContaining("missing.vhs") },
  });
  const nowhere = ["--image", image, "--socket", join(root, "none", "socket")];
  expect(await hedgerow(["disk", "open", file, ...nowhere])).toMatchObject({
    ...{ code: 3, out: "", err: expect.stringContaining("cannot listen") },
  });
});

test("saves what changed and what was read at the end, for the next disk", async () => {
  const { root, file, image, socket } = smallSnapshot();
  const [delta, trace] = [join(root, "delta.vhs"), join(root, "boot.trace")];
  const open = ["open", file, "--image", image, "--socket", socket, "--trace", trace];
  const first = await started([...open, "--save", delta, "--save-trace", "--fill", "none"]);
  const client = await NbdClient.open(socket);
  await client.readAt(0, 100);
  expect((await client.request({ type: cmd.write, data: BLOCK })).errno).toBe(0);
  expect((await first.stop("SIGTERM")).err).toBe("");
  await client.close();
  const { ranges } = JSON.parse(readFileSync(trace, "utf8"));
  expect(ranges).toEqual([[0, Math.min(SMALL.length, 65_536)]]);
  const restored = join(root, "restored.img");
  await restoreSnapshot(delta, restored);
  expect(readFileSync(restored).equals(Buffer.concat([BLOCK, SMALL.subarray(4096)]))).toBe(true);
});
