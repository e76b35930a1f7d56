import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { restoreSnapshot } from "@hedgerow/snapshot";
import { expect, test, vi } from "vitest";

import { trials } from "../../../../tests/support/trials.js";
import { NBD } from "../../../snapshot/test/support/nbd-client.js";
import { hedgerow, hedgerowProcess } from "../support/bin.js";
import {
  type Attached,
  attach,
  controlSocket,
  failure,
  json,
  readFrom,
  withDisk,
  writeTo,
} from "../support/disk-store.js";
import { SMALL } from "../support/images.js";

const BLOCK = Buffer.alloc(4096, "new");

test.each((["SIGINT", "SIGTERM"] as const).slice(0, trials({ few: 1, all: 2 })))(
  "serves a disk until %s, which saves and detaches it",
  async (signal) => {
    const { root, store, socket, args, env } = await withDisk();
    const first = await attach(args, env);
    expect(first.out).toBe(`nbd+unix:///?socket=${socket}\n`);
    expect((await readFrom(socket, SMALL.length)).equals(SMALL)).toBe(true);
    await writeTo(socket, BLOCK);
    expect(await first.stop(signal)).toEqual({ code: signal, out: first.out, err: "" });
    const { generations, last, attached } = await json(["stat", store, "alice"]);
    expect([generations, attached]).toEqual([2, undefined]);
    await restoreSnapshot(last.source, join(root, "restored.img"));
    const expected = Buffer.concat([BLOCK, SMALL.subarray(4096)]);
    expect(readFileSync(join(root, "restored.img")).equals(expected)).toBe(true);
    // Neither a local image nor a socket is left.
    expect(readdirSync(join(root, "state/hedgerow/disks"))).toEqual(["lock"]);
    expect(readdirSync(join(root, "run/hedgerow"))).toEqual([]);
    expect(existsSync(socket)).toBe(false);
  },
);

test("prints one JSON object, and shows other hosts the owner of the lease", async () => {
  const { root, store, env } = await withDisk();
  const images = join(root, "images");
  const args = [store, "alice", "--port", "0", "--fill", "none", "--images", images];
  const { child, out, stop } = await attach([...args, "--json"], env);
  const owner = `${hostname()}:${child.pid}`;
  const { uri, path, ...facts } = JSON.parse(out) as Attached;
  expect(facts).toEqual({
    ...{ name: "alice", generation: 1, epoch: 1, size: SMALL.length, volumes: {} },
  });
  expect(uri).toMatch(/^nbd:\/\/127\.0\.0\.1:\d+/);
  expect(path).toMatch(new RegExp(`^${images}/alice-[0-9a-f]{8}\\.raw$`));
  expect((await json(["stat", store, "alice"])).attached).toEqual({ owner, epoch: 1 });
  expect((await hedgerow(["disk", "stat", store, "alice"])).out).toContain(`by ${owner}\n`);
  const refused = await failure(["attach", ...args], env);
  expect(refused).toMatchObject({ exit: 3, code: "ERR_ATTACHED" });
  expect(refused.message).toBe(
    `alice is attached by ${owner}; wait until it is detached, or pass --steal to take it`,
  );
  for (const command of [
    ["rollback", store, "alice", "1"],
    ["remove", store, "alice"],
  ])
    expect(await failure(command)).toMatchObject({ exit: 3, code: "ERR_ATTACHED" });
  expect((await stop("SIGTERM")).code).toBe("SIGTERM");
  expect(await json(["stat", store, "alice"])).toMatchObject({ generations: 1 });
});

test("says that the process is stopped that should save a disk, and how to continue it", async () => {
  const { store, args, env } = await withDisk();
  const { child, stop } = await attach(args, env);
  process.kill(child.pid!, "SIGSTOP");
  const { code, message } = await failure(["save", store, "alice"], env);
  expect(code).toBe("ERR_SOURCE");
  const continued = `is stopped: continue it with kill -CONT ${child.pid}`;
  expect(message).toContain(`alice, process ${child.pid}, ${continued}`);
  process.kill(child.pid!, "SIGCONT");
  expect((await stop("SIGTERM")).code).toBe("SIGTERM");
});

test("saves and detaches a disk from another process, which gets its errors", async () => {
  const { store, socket, args, env } = await withDisk();
  const { end } = await attach(args, env);
  await writeTo(socket, BLOCK);
  const saved = await json(["save", store, "alice", "--label", "one"], env);
  expect(saved).toMatchObject({ number: 2, label: "one", changedBytes: 4096 });
  expect(saved.pause).toBeGreaterThan(0);
  expect((await readFrom(socket, 4096)).equals(BLOCK)).toBe(true);
  await writeTo(socket, SMALL.subarray(0, 4096));
  const { code, out, err } = await hedgerowProcess(["disk", "save", store, "alice"], "", env);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^generation +3\nidentity .*\nsaved .* UTC\n/);
  expect(out).toMatch(/^changed +4\.1 kB \(4,096 bytes\)\nwrites paused +\d+\.\d ms\n$/m);
  const refused = await failure(["save", store, "alice", "--label", "x".repeat(300)], env);
  expect(refused).toMatchObject({ exit: 2, code: "ERR_ARGUMENT" });
  expect(refused.message).toMatch(/^label: expected at most 256 characters/);
  await writeTo(socket, BLOCK);
  const place = `${store}/../store/`;
  const detached = await hedgerowProcess(["disk", "detach", place, "alice"], "", env);
  expect(detached).toMatchObject({ code: 0, err: "" });
  expect(detached.out).toMatch(/^generation +4\n/);
  expect(await end).toMatchObject({ code: 0, err: "" });
  const none = { exit: 3, code: "ERR_SOURCE" };
  for (const command of ["save", "detach"]) {
    const found = await failure([command, store, "alice"], env);
    expect(found).toMatchObject(none);
    expect(found.message).toMatch(
      /^alice is not attached by a process of this user on this host, or/,
    );
  }
});

test("a killed process leaves its changes in an unsaved image, and the disk can be attached", async () => {
  const { store, socket, args, env } = await withDisk();
  const first = await attach([...args, "--json"], env);
  const { path } = JSON.parse(first.out) as Attached;
  await writeTo(socket, BLOCK, NBD.flag.fua);
  await first.stop("SIGKILL");
  expect(existsSync(controlSocket(env))).toBe(true);
  expect(await failure(["save", store, "alice"], env)).toMatchObject({ code: "ERR_SOURCE" });
  const { images } = await json(["recover", store], env);
  expect(images).toMatchObject([{ image: path, name: "alice", changedBytes: 4096 }]);

  const second = await attach([...args, "--json"], env);
  expect(JSON.parse(second.out)).toMatchObject({ generation: 1, epoch: 2 });
  expect((await readFrom(socket, 4096)).equals(SMALL.subarray(0, 4096))).toBe(true);
  // The stale control socket was replaced.
  expect(await json(["save", store, "alice", "--label", "x"], env)).toMatchObject({ number: 2 });
  await second.stop("SIGTERM");
  expect(await json(["recover", store, path, "--as", "alice-2"], env)).toMatchObject({ number: 1 });
});

test("reports that the disk was lost, still serves it, and ends with an error", async () => {
  const { store, socket, root, args, env } = await withDisk();
  const first = await attach([...args, "--json"], env);
  const { path } = JSON.parse(first.out) as Attached;
  await writeTo(socket, BLOCK);
  const elsewhere = { ...env, XDG_STATE_HOME: join(root, "other") };
  const thief = [store, "alice", "--socket", `${socket}2`, "--steal"];
  const second = await attach(thief, elsewhere);
  // The socket of `disk save` is now that of the second process.
  expect(await json(["save", store, "alice", "--label", "x"], env)).toMatchObject({ number: 2 });
  expect((await readFrom(socket, 4096)).equals(BLOCK)).toBe(true);
  const { code, err } = await first.stop("SIGTERM");
  const [{ warning }, { error }] = err
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line)) as [
    { warning: { message: string } },
    { error: { code: string; message: string } },
  ];
  expect(warning.message).toContain(`to save ${path} as a new disk, end this process`);
  expect([code, error.code]).toEqual([3, "ERR_LEASE_LOST"]);
  expect(error.message).toMatch(/^alice is attached by \S+: nothing more can be saved under this/);
  const hint = `its changes are in ${path}: run "hedgerow disk recover ${store} ${path} --as <new name>"`;
  expect(error.message).toContain(`; ${hint}`);
  expect(await json(["save", store, "alice", "--label", "y"], env)).toMatchObject({ number: 3 });
  expect((await second.stop("SIGTERM")).code).toBe("SIGTERM");
  await json(["recover", store, path, "--as", "alice-2"], env);
});

test("warns on standard error when the disk was removed", async () => {
  const { store, socket, args, env } = await withDisk();
  const { err, stop } = await attach(args, env);
  await writeTo(socket, BLOCK);
  rmSync(join(store, "disks/alice"));
  const refused = await failure(["save", store, "alice"], env);
  expect(refused).toMatchObject({ exit: 3, code: "ERR_LEASE_LOST" });
  expect(refused.message).toContain("end this process and run");
  await vi.waitUntil(() => err().includes("\n"), 20_000);
  expect(err()).toMatch(/^hedgerow: alice was removed: nothing more can be saved .*\.raw .*\n$/);
  expect((await readFrom(socket, 4096)).equals(BLOCK)).toBe(true);
  const end = await stop("SIGTERM");
  expect(end.code).toBe(3);
  expect(end.err.trimEnd().split("\n")).toHaveLength(2);
});

test("ends with an error that names the local image if it cannot save before the deadline", async () => {
  const { root, store, socket, args, env } = await withDisk();
  const [pid, thawed] = [join(root, "pid"), join(root, "thawed")];
  const hooks = ["--freeze", `echo $$ >${pid}; sleep 600`, "--thaw", `touch ${thawed}`];
  const slow = [...hooks, "--hook-timeout", "1d", "--deadline", "1s"];
  const { out, stop } = await attach([...args, ...slow, "--json"], env);
  const { path } = JSON.parse(out) as Attached;
  await writeTo(socket, BLOCK);
  const { code, err } = await stop("SIGTERM");
  const { error } = JSON.parse(err);
  expect([code, error.code]).toEqual([3, "ERR_OUTPUT"]);
  expect(error.message).toMatch(/^alice was not saved within 1 s; its changes are in /);
  expect(error.message).toContain(`hedgerow disk recover ${store} ${path} --as `);
  expect([existsSync(socket), existsSync(thawed)]).toEqual([false, true]);
  const hook = Number(readFileSync(pid, "utf8"));
  // The system's first process, now its parent, may take a while to notice that it has been killed.
  await vi.waitFor(() => expect(() => process.kill(hook, 0)).toThrow("ESRCH"), { timeout: 30_000 });
  const { source } = await json(["recover", store, path, "--as", "alice-2"], env);
  await restoreSnapshot(source, join(root, "restored.img"));
  expect(readFileSync(join(root, "restored.img")).subarray(0, 4096).equals(BLOCK)).toBe(true);
});

test("tries again until the deadline if saving fails at the end", async () => {
  const { root, store, socket, args, env } = await withDisk();
  const flag = join(root, "flag");
  const freeze = `test -e ${flag} || { touch ${flag}; echo not yet; exit 1; }`;
  const { stop, err } = await attach([...args, "--freeze", freeze], env);
  await writeTo(socket, BLOCK);
  expect((await stop("SIGTERM")).code).toBe("SIGTERM");
  const reason = "freeze: the hook failed: not yet; nothing was saved";
  expect(err()).toBe(`hedgerow: ${reason}; trying again\n`);
  expect(await json(["stat", store, "alice"])).toMatchObject({ generations: 2 });
});

test("freezes and thaws with shell commands, and kills one that takes too long", async () => {
  const { root, store, socket, args, env } = await withDisk();
  const log = join(root, "log");
  const hooks = [
    ...["--freeze", `echo freeze $HEDGEROW_DISK >>${log}; test ! -e ${log}.slow || sleep 600`],
    ...["--thaw", `echo thaw $HEDGEROW_DISK >>${log}`, "--hook-timeout", "1s"],
  ];
  const { stop } = await attach([...args, ...hooks], env);
  await writeTo(socket, BLOCK);
  expect(await json(["save", store, "alice"], env)).toMatchObject({ number: 2 });
  expect(readFileSync(log, "utf8")).toBe("freeze alice\nthaw alice\n");
  await writeTo(socket, BLOCK);
  mkdirSync(`${log}.slow`);
  const found = await failure(["save", store, "alice"], env);
  expect(found).toMatchObject({ exit: 3, code: "ERR_HOOK" });
  expect(found.message).toContain("freeze: the hook took longer than 1000 ms");
  expect(readFileSync(log, "utf8")).toBe("freeze alice\nthaw alice\n".repeat(2));
  rmSync(`${log}.slow`, { recursive: true });
  expect((await stop("SIGTERM")).code).toBe("SIGTERM");
});

test("saves in intervals with --save-every, and warns when a save fails", async () => {
  const { root, store, socket, args, env } = await withDisk();
  const freeze = `test ! -e ${root}/broken`;
  const { err, stop } = await attach([...args, "--save-every", "1s", "--freeze", freeze], env);
  await writeTo(socket, BLOCK);
  const generations = async () => (await json(["stat", store, "alice"])).generations;
  await vi.waitUntil(async () => (await generations()) === 2, { timeout: 20_000, interval: 100 });
  mkdirSync(join(root, "broken"));
  await writeTo(socket, SMALL.subarray(0, 4096));
  await vi.waitUntil(() => err().includes("\n"), 20_000);
  expect(err()).toMatch(/^hedgerow: cannot save alice for now: freeze: the hook failed: sh ended/);
  rmSync(join(root, "broken"), { recursive: true });
  expect((await stop("SIGTERM")).code).toBe("SIGTERM");
  expect(await generations()).toBe(3);
});

test("detaches the disk if it cannot listen", async () => {
  const { root, store, env } = await withDisk();
  const nowhere = [store, "alice", "--socket", join(root, "none/socket")];
  const found = await failure(["attach", ...nowhere], env);
  expect(found).toMatchObject({ exit: 3, message: expect.stringContaining("cannot listen") });
  expect((await json(["stat", store, "alice"])).attached).toBeUndefined();
  expect(readdirSync(join(root, "state/hedgerow/disks"))).toEqual(["lock"]);
});

test("attaches through a cache, which keeps the local images beside it", async () => {
  const { root, socket, args, env } = await withDisk();
  const cache = ["--cache", join(root, "cache"), "--cache-max-bytes", "64MiB"];
  const { out, stop } = await attach([...args, ...cache, "--json"], env);
  expect(JSON.parse(out).path).toContain(join(root, "cache-disks/alice-"));
  expect((await readFrom(socket, SMALL.length)).equals(SMALL)).toBe(true);
  expect((await stop("SIGTERM")).code).toBe("SIGTERM");
});
