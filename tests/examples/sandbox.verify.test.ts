/** The example that runs virtual machines whose disks persist, with QEMU and an S3 server. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { restoreSnapshot } from "@hedgerow/snapshot";
import { describe, expect, onTestFinished, test, vi } from "vitest";

import {
  boot,
  noteIn,
  numberOf,
  PATIENCE,
  path,
  reading,
  runIn,
  sandbox,
  store,
} from "../support/examples/sandboxes.js";
import { minutes } from "../support/trials.js";

/** A boot takes seconds without KVM, and each test boots several machines. */
const LIMIT = minutes({ all: 4 });

/** Returns a file in the image of the last save of a disk. */
async function fileIn(name: string, file: string): Promise<string> {
  const image = path(`${name}.img`);
  const { source, digest } = (await store.stat(name)).last;
  await restoreSnapshot(source, image, { ...reading, digest, overwrite: true });
  return execFileSync("debugfs", ["-R", `cat ${file}`, image], { encoding: "utf8", stdio: "pipe" });
}

test(
  "a machine is saved with its files while it runs, when it is suspended, and when it stops",
  LIMIT,
  async () => {
    await store.fork("debian", "frank");
    const running = await boot("one", ["frank"]);
    running.type("echo note: first > note; sync", ".save");
    await running.prints("saved as generation 2");
    expect(await fileIn("frank", "/root/note")).toBe("note: first\n");
    running.type("echo note: second > note", "echo in memory > /tmp/note");
    await running.stop();
    const off = sandbox("two", "run", "frank", "--power-off");
    off.type("cat /tmp/note");
    expect(await off.stop()).toBe("in memory\n");
    expect(off.printed).toContain("generation 3 continues");
    expect(await numberOf("frank")).toBe(4);
    expect(await fileIn("frank", "/root/note")).toBe("note: second\n");
    expect(await runIn("one", "frank", "cat note; ls /tmp")).toBe("note: second\n");
    await store.remove("frank");
  },
);

test("explains invalid commands", async () => {
  for (const args of [
    ["restart", "alice"],
    ["toString", "alice"],
  ]) {
    const wrong = sandbox("one", ...args);
    expect(await wrong.ended).toBe(1);
    expect(wrong.printed).toContain("create NAME IMAGE");
  }
  const missing = sandbox("one", "run", "nobody");
  expect(await missing.ended).toBe(1);
  expect(missing.printed).toContain("nobody");
});

describe("the accelerator", () => {
  test.each([
    ["kvm", "a machine ends with it", "exit 0"],
    ["tcg", "the host has no KVM", "exit 1"],
    ["tcg", "a machine hangs with it", "exec sleep 60"],
  ])("is %s if %s", async (expected, _, script) => {
    const qemu = path("bin", "qemu-system-x86_64");
    mkdirSync(path("bin"), { recursive: true });
    writeFileSync(qemu, `#!/bin/sh\n${script}\n`);
    chmodSync(qemu, 0o755);
    vi.stubEnv("PATH", `${path("bin")}:${process.env.PATH}`);
    onTestFinished(() => {
      vi.unstubAllEnvs();
    });
    const { accelerator } = await import("../../examples/sandbox/src/machine.mjs");
    expect(await accelerator([])).toBe(expected);
  });
});

test(
  "a stopped sandbox resumes on another host with its files, and a fork diverges from it",
  LIMIT,
  async () => {
    await store.fork("debian", "alice");
    await runIn("one", "alice", "echo note: of alice > note");
    expect(await sandbox("two", "pull", "debian").ended).toBe(0);
    const { digest } = (await store.stat("debian")).last;
    expect(readdirSync(path("two", "host", "cache", "images"))).toContain(`${digest}.record`);
    expect(await noteIn("two", "alice")).toBe("note: of alice\n");

    expect(await sandbox("two", "fork", "alice", "bob").ended).toBe(0);
    const before = await runIn("two", "bob", "cat note", "echo note: of bob > note");
    expect(before).toBe("note: of alice\n");
    expect(await Promise.all([noteIn("one", "alice"), noteIn("one", "bob")])).toEqual([
      "note: of alice\n",
      "note: of bob\n",
    ]);
    const list = sandbox("one", "list");
    expect(await list.stop()).toBe("alice: stopped\nbob: stopped\ndebian: stopped\n");
  },
);

test("a machine that is killed leaves the last save", LIMIT, async () => {
  await store.fork("debian", "carol");
  const running = await boot("one", ["carol"]);
  // Without `sync`: the memory is saved, too.
  running.type("echo note: saved > note", ".save");
  await running.prints("saved as generation 2");
  running.type("echo note: lost > note; sync; echo written");
  await running.prints("written");
  const machine = running.processes.at(-1) ?? 0;
  process.kill(machine, "SIGKILL");
  expect(await running.ended).toBe(1);
  expect(running.printed).toContain("the machine has crashed");
  expect(await numberOf("carol")).toBe(2);

  const resumed = await boot("two", ["carol"]);
  resumed.type("cat note");
  await resumed.prints("note: saved");
  resumed.kill("SIGTERM");
  expect(await resumed.ended).toBe(0);
  expect(await numberOf("carol")).toBe(3);
});

test(
  "a host that is killed leaves the last save of the running machine, and the rest can be recovered",
  LIMIT,
  async () => {
    await store.fork("debian", "dave");
    const running = await boot("one", ["dave"], { SANDBOX_SAVE_EVERY: "1" });
    running.type("echo note: saved > note; sync; echo written");
    await running.prints("written");
    running.type("(while sleep 1; do date > clock; sync; done) >/dev/null 2>&1 &");
    // A save that is running now may lack the note. The one after it has it.
    const before = await numberOf("dave");
    const isSaved = async () => (await numberOf("dave")) > before + 1;
    await vi.waitUntil(isSaved, { timeout: PATIENCE, interval: 100 });
    const { processes } = running;
    expect(processes).toHaveLength(2);
    running.kill("SIGKILL");
    await running.ended;
    const isRunning = () => processes.some((pid) => existsSync(`/proc/${pid}/fd`));
    await vi.waitUntil(() => !isRunning(), { timeout: PATIENCE, interval: 10 });

    const refused = sandbox("two", "run", "dave");
    expect(await refused.ended).toBe(1);
    expect(refused.printed).toContain("dave is attached by ");
    const thief = await boot("two", ["dave", "--steal"]);
    thief.type("cat note", "echo note: unsaved > note; sync; echo written");
    await thief.prints("written");
    expect(thief.printed).toContain("note: saved");

    // Taken again, while the host lives.
    const last = await boot("one", ["dave", "--steal"]);
    thief.type(".save");
    expect(await thief.ended).toBe(1);
    expect(thief.printed).toContain("nothing more can be saved under this name");
    expect(await sandbox("two", "recover", "dave", "erin").ended).toBe(0);
    last.type("cat note");
    const [recovered] = await Promise.all([noteIn("two", "erin"), last.stop()]);
    expect(last.printed).toContain("note: saved");
    expect(recovered).toBe("note: unsaved\n");
  },
);
