/** Clients of others, on disks that are being filled from a slow server, and on those that are filled. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createSnapshot, type Disk, openSnapshot } from "@hedgerow/snapshot";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";

import { makeCertificate } from "../../../../tests/origin/certificate.mjs";
import { type Origin, startOrigin } from "../../../../tests/origin/origin.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, letters, noise } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { s3Options, urlOf } from "../support/upload-s3.js";

const MIB = 2 ** 20;
const LIBNBD = fileURLToPath(new URL("../support/libnbd-all.py", import.meta.url));
const path = temporaryFolder();

/** Data, a hole, and data; the end is not that of a block, but that of a sector. */
const image = Buffer.concat([
  ...[noise("first", 4 * MIB), Buffer.alloc(8 * MIB), letters("second", 3 * MIB)],
  noise("last", MIB + 512),
]);
const fixed = makeCertificate();
let origin: Origin;

beforeAll(async () => {
  writeFileSync(path("image"), image);
  await createSnapshot(path("image"), path("a.vhs"), { pieceSize: 2 ** 16, workers: 1 });
  const conditions = { bytesPerSecond: 4 * MIB, firstByte: 20 };
  origin = await startOrigin({ files: { "/a.vhs": readFileSync(path("a.vhs")) }, conditions });
});
afterAll(() => origin.close());

/** Runs a program, and returns its output. The server is in this process, so that it must not be blocked. */
async function run(name: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(name, args, {
    maxBuffer: 64 * MIB,
    timeout: 60_000,
  });
  return stdout;
}

let count = 0;

/** Opens a disk, and serves it. It is closed when the test ends. */
async function serve(
  options: Partial<Parameters<typeof openSnapshot>[1]> = {},
  source: string | URL = origin.url("/a.vhs"),
): Promise<{ disk: Disk; uri: string; socket: string }> {
  count += 1;
  const [target, socket] = [path(`disk-${count}`), path(`socket-${count}`)];
  const disk = await openSnapshot(source, { workers: 1, ...options, image: target });
  onTestFinished(() => disk.close());
  const { uri } = await disk.listen({ path: socket });
  return { disk, uri, socket };
}

const states = {
  "that is being filled": async () => serve(),
  "that nobody fills": async () => serve({ fill: "none" }),
  "that is filled": async () => {
    const served = await serve({}, path("a.vhs"));
    await served.disk.filled;
    return served;
  },
};

const clients: Record<string, (served: Awaited<ReturnType<typeof serve>>) => Promise<void>> = {
  "nbdcopy reads over several connections": async ({ uri }) => {
    await run("nbdcopy", "--connections=4", uri, path("copy"));
    expectSame(readFileSync(path("copy")), image);
  },

  "nbdcopy writes over several connections": async ({ disk, uri }) => {
    const other = Buffer.from(image.map((byte) => byte ^ 1));
    writeFileSync(path("other"), other);
    await run("nbdcopy", "--connections=4", "--flush", path("other"), uri);
    expectSame(await disk.read(0, image.length), other);
  },

  "qemu-img compares and converts": async ({ uri }) => {
    expect(await run("qemu-img", "compare", uri, path("image"))).toMatch(/identical/);
    await run("qemu-img", "convert", "-f", "raw", "-O", "qcow2", uri, path("image.qcow2"));
    await run("qemu-img", "compare", path("image.qcow2"), path("image"));
  },

  "qemu-io writes, discards, and reads patterns back": async ({ disk, uri }) => {
    const commands = [
      ...["write -P 5 0 64k", "write -f -P 6 65536 512", "read -P 5 0 64k", "read -P 6 65536 512"],
      ...["write -z 4k 8k", "read -P 0 4k 8k", "write -z -u 1M 1M", "read -P 0 1M 1M"],
      ...["discard 2M 1M", "read -P 0 2M 1M", "write -P 7 3145985 1000", "read -P 7 3145985 1000"],
      ...["flush", "read -P 0 5M 1M"],
    ];
    const args = commands.flatMap((command) => ["-c", command]);
    const output = await run("qemu-io", "-f", "raw", ...args, uri);
    expect(output).not.toMatch(/failed|error|Pattern verification/i);
    const found = await disk.read(0, 4 * MIB);
    expectSame(found.subarray(0, 4096), Buffer.alloc(4096, 5));
    expectSame(found.subarray(3_145_985, 3_146_985), Buffer.alloc(1000, 7));
  },

  "libnbd uses every command, and gets every error": async ({ socket }) => {
    const before = ["-c", 'h.add_meta_context("base:allocation")'];
    const connect = ["-c", `h.connect_unix("${socket}")`];
    // Whatever Python comes first, it is Debian's that has libnbd.
    await run(
      "env",
      "PATH=/usr/bin:/bin",
      "nbdsh",
      ...before,
      ...connect,
      "-c",
      `exec(open("${LIBNBD}").read())`,
    );
  },

  "fio verifies what it writes": async ({ uri }) => {
    const job = ["--name=verify", "--ioengine=nbd", `--uri=${uri}`, "--rw=randrw"];
    const sizes = ["--bssplit=512/20:4k/50:20k/30", "--size=8M", "--iodepth=16", "--randseed=1"];
    const checks = ["--verify=crc32c", "--verify_fatal=1", "--fsync=32", "--verify_state_save=0"];
    await run("fio", ...job, ...sizes, ...checks);
  },
};

/** Each client runs on one of the disks, in turn, or on all of them. */
const EVERY = trials({ few: Object.keys(states).length, all: 1 });

describe.each(Object.entries(states).map(([state, open], row) => ({ state, open, row })))(
  "on a disk $state",
  ({ open, row }) => {
    const tried = Object.entries(clients).filter((_, column) => (row + column) % EVERY === 0);

    test.each(tried)("%s", async (_, use) => use(await open()));
  },
);

test("nbdinfo shows the size, the flags, and the holes", async () => {
  const { disk, uri, socket } = await serve({ fill: "none" });
  const { exports } = JSON.parse(await run("nbdinfo", "--json", uri));
  expect(exports).toHaveLength(1);
  expect(exports[0]).toMatchObject({
    ...{ "export-size": image.length, is_read_only: false, can_multi_conn: true },
    ...{ can_cache: true, can_df: true, can_fast_zero: true, can_flush: true, can_fua: true },
    ...{ can_trim: true, can_zero: true, block_size_minimum: 1, block_size_preferred: 4096 },
    ...{ block_size_maximum: 2 ** 25, contexts: ["base:allocation"] },
  });
  const map = async (context: string) => {
    const extents = JSON.parse(await run("nbdinfo", `--map=${context}`, "--json", uri));
    return extents.map(({ offset, length, type }: Record<string, number>) => [
      offset,
      length,
      type,
    ]);
  };
  const holes = [
    [0, 4 * MIB, 0],
    [4 * MIB, 8 * MIB, 3],
    [12 * MIB, 4 * MIB + 512, 0],
  ];
  expect(await map("base:allocation")).toEqual(holes);
  await disk.read(0, image.length);
  expect(await map("base:allocation")).toEqual(holes);
  expect(await run("nbdinfo", "--list", `nbd+unix:///?socket=${socket}`)).toMatch(/export=""/);
});

test("nbddump shows the first bytes", async () => {
  const { uri } = await serve();
  const hex = image.subarray(0, 16).toString("hex").match(/../g)?.join(" ") ?? "";
  // It separates the halves of a line by more spaces.
  expect((await run("nbddump", "--length=16", uri)).replace(/ +/g, " ")).toContain(hex);
});

test.each([undefined, "one"])(
  "QEMU's client that reconnects goes on with its own disk, and with no other: export %s",
  async (name) => {
    const [{ disk: one }, { disk: two }] = [await serve(), await serve()];
    const socket = path(`reconnects-${name}`);
    await one.write(0, Buffer.alloc(512, 1));
    await two.write(0, Buffer.alloc(512, 2));
    const first = await one.listen({ path: socket, name });
    const where = `driver=nbd,server.type=unix,server.path=${socket},reconnect-delay=40`;
    // Otherwise, it would keep its output.
    const program = ["-oL", "qemu-io", "--image-opts"];
    const args = [...program, name === undefined ? where : `${where},export=${name}`];
    const client = spawn("stdbuf", args, { stdio: ["pipe", "pipe", "inherit"] });
    onTestFinished(() => void client.kill());
    const lines = createInterface({ input: client.stdout });
    const replies: string[] = [];
    lines.on("line", (line) => void (/Pattern|read 512|failed/.test(line) && replies.push(line)));
    const read = () => client.stdin.write("read -P 1 0 512\n");
    read();
    await vi.waitUntil(() => replies.length === 1, 30_000);
    await first.close();
    const other = await two.listen({ path: socket, name: "two" });
    read();
    // QEMU tries to connect each second at first.
    await sleep(1_500);
    await other.close();
    await one.listen({ path: socket, name });
    await vi.waitUntil(() => replies.length > 1, 40_000);
    client.stdin.end("quit\n");
    await once(client, "exit");
    expect(replies.map((line) => line.replace(/^.*> /, ""))).toEqual(
      Array(2).fill("read 512/512 bytes at offset 0"),
    );
  },
);

test("a client that asks through a delay, errors and retries gets the right bytes", async () => {
  const { socket } = await serve();
  const filters = ["--filter=retry", "--filter=error", "--filter=delay"];
  const faults = ["error-rate=3%", "error=EIO", "retries=20", "retry-delay=1", "rdelay=1ms"];
  const copy = `nbdcopy "$uri" ${path("through")}`;
  await run(
    "nbdkit",
    "-U",
    "-",
    ...filters,
    "nbd",
    `socket=${socket}`,
    ...faults,
    "retry-exponential=no",
    "--run",
    copy,
  );
  expectSame(readFileSync(path("through")), image);
});

test("a read-only disk refuses what changes it", async () => {
  const { uri } = await serve({ readOnly: true });
  expect(JSON.parse(await run("nbdinfo", "--json", uri)).exports[0].is_read_only).toBe(true);
  await expect(run("qemu-io", "-f", "raw", "-c", "write 0 4k", uri)).rejects.toThrow(
    /Permission denied/,
  );
});

test("clients connect by TLS, and check the certificate", async () => {
  const { disk } = await serve();
  mkdirSync(path("pki"));
  writeFileSync(path("pki/ca-cert.pem"), fixed.cert);
  const { uri } = await disk.listen({ port: 0, tls: fixed });
  const secure = `${uri.replace("nbd:", "nbds:")}?tls-certificates=${path("pki")}`;
  await run("nbdcopy", secure, path("secure"));
  expectSame(readFileSync(path("secure")), image);
  await expect(run("nbdinfo", "--size", uri.replace("nbds:", "nbd:"))).rejects.toThrow(/TLS|tls/);
});

test("a snapshot in S3 is read through a disk", async () => {
  await createSnapshot(path("image"), urlOf("a.vhs"), s3Options({ pieceSize: 2 ** 16 }));
  const { uri } = await serve(s3Options(), urlOf("a.vhs"));
  expect(await run("qemu-img", "compare", uri, path("image"))).toMatch(/identical/);
});
