import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { DiskStore } from "@hedgerow/snapshot";

import { run } from "../src/sandbox.js";

test("a disk persists between runs, and a fork continues on its own", async () => {
  const folder = await mkdtemp(join(tmpdir(), "sandbox-"));
  const store = await DiskStore.open(join(folder, "disks"), { images: join(folder, "images") });
  try {
    assert.equal(await run(store, "alice"), 1);
    assert.equal(await run(store, "alice"), 2);
    await store.fork("alice", "bob");
    assert.equal(await run(store, "bob"), 3);
    assert.equal(await run(store, "alice"), 3);
    assert.equal(await run(store, "bob"), 4);
  } finally {
    await store.close();
    await rm(folder, { recursive: true });
  }
});
