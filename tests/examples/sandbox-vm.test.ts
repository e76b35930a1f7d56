/**
 * The example that runs virtual machines whose disks persist, with QEMU and an S3 server. The tests that resume
 * machines are in `sandbox-vm.verify.test.ts`.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { restoreSnapshot } from "@hedgerow/snapshot";
import { describe, expect, onTestFinished, test, vi } from "vitest";

import { boot, numberOf, path, reading, sandbox, store } from "../support/examples/sandboxes.js";

/** Returns a file in the image of the last save of a disk. */
async function fileIn(name: string, file: string): Promise<string> {
  const image = path(`${name}.img`);
  const { source, digest } = (await store.stat(name)).last;
  await restoreSnapshot(source, image, { ...reading, digest, overwrite: true });
  return execFileSync("debugfs", ["-R", `cat ${file}`, image], { encoding: "utf8", stdio: "pipe" });
}

test("a machine is saved with its files while it runs, and when it stops", async () => {
  await store.fork("debian", "alice");
  const running = await boot("one", ["alice"]);
  // Without `sync`: the hooks flush the file system.
  running.type("echo note: first > note", ".save");
  await running.prints("saved as generation 2");
  expect(await fileIn("alice", "/root/note")).toBe("note: first\n");
  running.type("echo note: second > note");
  await running.stop();
  expect(await numberOf("alice")).toBe(3);
  expect(await fileIn("alice", "/root/note")).toBe("note: second\n");
});

test("explains invalid commands", async () => {
  for (const args of [[], ["restart", "alice"], ["toString", "alice"]]) {
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
    const { accelerator } = await import("../../examples/sandbox-vm/src/accelerator.mjs");
    expect(await accelerator([])).toBe(expected);
  });
});
