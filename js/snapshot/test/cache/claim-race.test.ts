/** Lock files that are removed or cannot be opened at the moment another process opens them. */
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";

import { lockPrivateFile } from "../../src/local/lock-private-file.js";

/** Runs between opening a file and checking it. */
const between = vi.hoisted(() => ({ act: async () => {} }));

vi.mock("node:fs/promises", async (load) => {
  const real = await load<typeof import("node:fs/promises")>();
  const open = async (...args: Parameters<typeof real.open>) => {
    const handle = await real.open(...args);
    await between.act();
    return handle;
  };
  return { ...real, open };
});

const folder = mkdtempSync(join(tmpdir(), "hedgerow-claim-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("does not take a lock file that was removed and replaced after it was opened", async () => {
  const path = join(folder, "claim");
  const first = await lockPrivateFile("image", path);
  let second: typeof first;
  between.act = async () => {
    between.act = async () => {};
    await rm(path);
    await first?.close();
    second = await lockPrivateFile("image", path);
  };
  const third = await lockPrivateFile("image", path);
  expect(second).toBeDefined();
  expect(third).toBeUndefined();
  await second?.close();
});

test("leaves a lock file in place when it cannot open it", async () => {
  const path = join(folder, "kept");
  const first = await lockPrivateFile("image", path);
  const { ino } = statSync(path);
  between.act = async () => {
    between.act = async () => {};
    throw Object.assign(new Error("EMFILE: too many open files"), {
      code: "EMFILE",
      syscall: "open",
    });
  };
  await expect(lockPrivateFile("image", path)).rejects.toMatchObject({
    code: "ERR_TARGET",
    cause: { code: "EMFILE" },
  });
  expect(statSync(path).ino).toBe(ino);
  await first?.close();
});
