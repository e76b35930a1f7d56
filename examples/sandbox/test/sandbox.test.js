// Needs what `npm run build` makes, and QEMU.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(new URL("../src/sandbox.mjs", import.meta.url));

test("a machine continues with its memory, and a fork has a memory of its own", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sandbox-"));
  const env = {
    ...process.env,
    SANDBOX_STORE: join(folder, "store"),
    SANDBOX_HOST: join(folder, "host"),
  };
  /** @param {string} input @param {string[]} args */
  const sandbox = async (input, ...args) => {
    const stdio = /** @type {const} */ (["pipe", "pipe", "inherit"]);
    const child = spawn(process.execPath, [SCRIPT, ...args], { env, stdio });
    child.stdin.end(`${input}\n`);
    return text(child.stdout);
  };
  try {
    assert.equal(await sandbox("echo hello > /tmp/note; echo written"), "written\n");
    assert.equal(await sandbox("cat /tmp/note", "run", "alice"), "hello\n");
    await sandbox("", "fork", "alice", "bob");
    assert.equal(await sandbox("cat /tmp/note; echo bob > /tmp/note", "run", "bob"), "hello\n");
    assert.equal(await sandbox("cat /tmp/note", "run", "bob"), "bob\n");
    assert.equal(await sandbox("cat /tmp/note", "run", "alice"), "hello\n");
  } finally {
    await rm(folder, { recursive: true });
  }
});
