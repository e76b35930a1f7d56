/** A guest proves that suspending, resuming, saving, forking and rolling back lose, repeat and mix nothing. */
import { existsSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test, vi } from "vitest";

import { mounts } from "../../js/cli/test/support/disk.js";
import { memoryDisk } from "../../js/snapshot/test/support/loop-disk.js";
import {
  boot,
  noteIn,
  numberOf,
  PATIENCE,
  path,
  reading,
  runIn,
  Sandbox,
  sandbox,
  store,
} from "../support/examples/sandboxes.js";
import { startProxy } from "../support/snapshots/proxy.js";
import { minutes, trials } from "../support/trials.js";

const CELLS = 5_000;
const MODULUS = 1_000_003;

/**
 * Counts, and hashes cells of its memory that depend on all counts before. Each count goes to a file with its hash: the
 * memory and the page cache are of one moment only if the file has every count once, with the right hash.
 */
const PROGRAM = [
  "awk 'BEGIN {",
  `for (i = 0; i < ${CELLS}; i++) a[i] = i * 7 % ${MODULUS};`,
  "while (1) { s = 0;",
  `for (i = 0; i < ${CELLS}; i++) { a[i] = (a[i] * 31 + i + n) % ${MODULUS}; s = (s * 17 + a[i]) % ${MODULUS} }`,
  'n++; print n, s >> "/root/counts"; fflush("/root/counts") } }\' >/dev/null 2>&1 &',
].join(" ");

/** Yields the lines that the program writes. */
function* countsOf(): Generator<string> {
  const cells = Array.from({ length: CELLS }, (_, at) => (at * 7) % MODULUS);
  for (let count = 0; ; count += 1) {
    let hash = 0;
    for (let at = 0; at < CELLS; at += 1) {
      cells[at] = ((cells[at] as number) * 31 + at + count) % MODULUS;
      hash = (hash * 17 + (cells[at] as number)) % MODULUS;
    }
    yield `${count + 1} ${hash}`;
  }
}

const lines: string[] = [];
const counts = countsOf();

/** Expects counts to be all from the first one on, and returns how many there are. */
function expectCounts(found: string): number {
  const written = found.trim().split("\n");
  while (lines.length < written.length) lines.push(counts.next().value as string);
  expect(written).toEqual(lines.slice(0, written.length));
  return written.length;
}

test(
  "a program that counts loses, repeats and mixes nothing in its memory and its files",
  minutes({ all: 15 }),
  async () => {
    await store.fork("debian", "counter");
    await runIn("one", "counter", PROGRAM, "while [ ! -s counts ]; do sleep 0.1; done");
    let last = 0;
    for (let cycle = 0; cycle < trials({ few: 4, all: 20 }); cycle += 1) {
      const host = ["one", "two"][cycle % 2] as string;
      // Continues, saves while it runs, continues, and is suspended.
      const run = sandbox(host, "run", "counter");
      run.type("cat counts", ".save", "cat counts >/dev/null; sleep 1; wc -l counts");
      const output = await run.stop();
      expect(run.printed).toMatch(/generation \d+ continues/);
      const before = expectCounts(output.replace(/\d+ counts\n$/, ""));
      expect(before).toBeGreaterThan(last);
      const after = Number(/(\d+) counts\n$/.exec(output)?.[1]);
      expect(after).toBeGreaterThan(before);
      last = before;
      if (cycle % 4 === 1) {
        // A fork continues from the same moment.
        expect(await sandbox(host, "fork", "counter", "twin").ended).toBe(0);
        expect(expectCounts(await runIn(host, "twin", "sleep 1; cat counts"))).toBeGreaterThan(
          after,
        );
        await store.remove("twin");
      }
      if (cycle % 4 === 3) {
        // So does an earlier generation.
        await store.rollback("counter", (await numberOf("counter")) - 1);
        last = 0;
      }
    }
    await store.remove("counter");
  },
);

test(
  "a kill at any moment leaves the last generation, which continues or boots",
  minutes({ all: 15 }),
  async () => {
    await store.fork("debian", "mortal");
    await runIn("one", "mortal", PROGRAM, "while [ ! -s counts ]; do sleep 0.1; done");
    const victims = ["the program", "nbdfuse", "QEMU"] as const;
    for (let trial = 0; trial < trials({ few: 3, all: 6 }); trial += 1) {
      const victim = trial % victims.length;
      const before = await numberOf("mortal");
      const running = await boot("one", ["mortal", "--steal"], { SANDBOX_SAVE_EVERY: "0.3" });
      expect(running.printed).toMatch(/generation \d+ continues/);
      // Amid a save, or a suspend.
      await sleep(300 + 100 * trial);
      const all = [running.pid, ...running.processes];
      if (trial % 2 === 1) running.kill("SIGTERM");
      process.kill(all[victim] as number, "SIGKILL");
      await running.ended;
      const isRunning = () => all.some((pid) => existsSync(`/proc/${pid}/fd`));
      await vi.waitUntil(() => !isRunning(), { timeout: PATIENCE });
      expect(await numberOf("mortal")).toBeGreaterThanOrEqual(before);
    }
    const output = await runIn("one", "mortal", "cat counts");
    expectCounts(output);
    expect(mounts()).not.toContain(path("one"));
  },
);

test(
  "a store that is away fails a suspension and a resumption, and the last generation continues when it is back",
  minutes({ all: 5 }),
  async () => {
    await store.fork("debian", "lonely");
    await runIn("one", "lonely", "echo memory > /tmp/note");
    let isAway = false;
    const fault = () => (isAway ? { status: 503 } : undefined);
    await using proxy = await startProxy(reading.s3.endpoint, fault);
    const env = { AWS_ENDPOINT_URL_S3: proxy.endpoint.href };
    const running = await boot("one", ["lonely"], env);
    running.type("echo files > note; cat /tmp/note");
    await running.prints("memory");
    isAway = true;
    running.kill("SIGTERM");
    expect(await running.ended).toBe(1);
    expect(running.printed).toMatch(/503.*recover lonely NEW-NAME/);
    const refused = new Sandbox("two", ["run", "lonely"], env);
    expect(await refused.ended).toBe(1);
    expect(refused.printed).toContain("503");
    isAway = false;
    const resumed = await boot("two", ["lonely", "--steal"], env);
    resumed.type("cat /tmp/note");
    expect(await resumed.stop()).toBe("memory\n");
    expect(await sandbox("one", "recover", "lonely", "found").ended).toBe(0);
    expect(await noteIn("one", "found")).toBe("files\n");
  },
);

const small = memoryDisk(200 * 2 ** 20);

test(
  "a machine whose memory finds no room on its host is not saved, and its last generation continues elsewhere",
  minutes({ all: 5 }),
  async () => {
    await store.fork("debian", "large");
    await runIn("one", "large", "echo memory > /tmp/note");
    const before = await numberOf("large");
    const running = await boot("one", ["large"], { SANDBOX_HOST: small.path("host") });
    running.type(
      "dd if=/dev/urandom of=/tmp/large bs=1M count=110 2>/dev/null; echo written",
      ".save",
    );
    await running.prints("written");
    running.kill("SIGTERM");
    expect(await running.ended).toBe(1);
    expect(running.printed).toMatch(/no space left on device.*recover large NEW-NAME/);
    expect(await numberOf("large")).toBe(before);
    const resumed = await boot("two", ["large", "--steal"]);
    resumed.type("cat /tmp/note");
    expect(await resumed.stop()).toBe("memory\n");
  },
);
