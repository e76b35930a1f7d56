/** Locks on files, which other processes may hold, or remove at the moment they are opened. */
import { lstatSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { afterAll, expect, test, vi } from "vitest";

import { lockFile, lockPrivateFile, Mutex } from "../../src/local/locks.js";

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

const folder = mkdtempSync(join(tmpdir(), "hedgerow-lock-"));
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

test.each(["a link", "a directory"])("does not lock %s, and leaves it in place", async (kind) => {
  const path = join(folder, kind);
  if (kind === "a link") symlinkSync(join(folder, "elsewhere"), path);
  else mkdirSync(path);
  await expect(lockFile(path)).rejects.toMatchObject({ code: "ERR_TARGET" });
  expect(lstatSync(path).isFile()).toBe(false);
});

/** Locks a file after a number of turns of the event loop. */
async function lockAfter(turns: number, path: string) {
  for (let turn = 0; turn < turns; turn += 1) await setImmediate();
  return lockPrivateFile("image", path);
}

test.each([0, 1, 2, 3, 4, 5])(
  "gives a lock to one of two attempts %i turns apart",
  async (turns) => {
    for (let round = 0; round < 50; round += 1) {
      const path = join(folder, `${turns}-${round}`);
      const handles = await Promise.all([lockAfter(0, path), lockAfter(turns, path)]);
      const locked = handles.filter((handle) => handle !== undefined);
      expect(locked.length).toBe(1);

      // A released lock can be taken again.
      await locked[0]?.close();
      const next = await lockPrivateFile("image", path);
      expect(next).toBeDefined();
      await next?.close();
    }
  },
);

/** Returns two mutexes of one file, as two processes have them. */
function mutexesOf(name: string) {
  const path = join(folder, name);
  const make = () => new Mutex("ERR_CACHE", name, () => lockFile(path));
  return [make(), make()] as const;
}

test("runs the actions of all mutexes of a file one after the other, also after one fails", async () => {
  const [one, other] = mutexesOf("mutex");
  let [running, most, ended] = [0, 0, 0];
  const action = async () => {
    running += 1;
    most = Math.max(most, running);
    await setImmediate();
    running -= 1;
    ended += 1;
    if (ended % 3 === 0) throw new Error("the action's own");
  };
  const runs = Array.from({ length: 12 }, (_, index) => (index % 2 ? one : other).run(action));
  const results = await Promise.allSettled(runs);
  expect(results.filter(({ status }) => status === "rejected").length).toBe(4);
  expect([most, ended]).toEqual([1, 12]);
});

test("stops waiting for a mutex when the signal fires, and after a minute", async () => {
  const [one, other] = mutexesOf("held");
  let end: (() => void) | undefined;
  const holding = one.run(
    () =>
      new Promise<void>((resolve) => {
        end = resolve;
      }),
  );
  await vi.waitUntil(() => end !== undefined, 20_000);
  const controller = new AbortController();
  const aborted = other.run(async () => {}, controller.signal);
  controller.abort(new Error("the caller's own"));
  await expect(aborted).rejects.toBe(controller.signal.reason);

  const begun = performance.now();
  const now = vi.spyOn(performance, "now");
  now.mockReturnValueOnce(begun).mockReturnValue(begun + 60_000);
  await expect(other.run(async () => {})).rejects.toMatchObject({
    code: "ERR_CACHE",
    message: expect.stringContaining("for 60 seconds"),
  });
  now.mockRestore();
  end?.();
  await holding;
  expect(await other.run(async () => "held")).toBe("held");
});
