import type { Progress } from "@hedgerow/snapshot";
import { expect, test } from "vitest";

import { progressLine } from "../src/progress.js";

/** The progress of a restore past its half. */
const HALF_WAY: Progress = {
  phase: "restore",
  bytes: 930e6,
  totalBytes: 1.61e9,
  compressedBytes: 400e6,
  frames: 900,
  transferredBytes: 410e6,
  retries: 0,
  hedged: 1,
  bytesPerSecond: 850e6,
};

test.for([
  [0, ""],
  [5, "resto"],
  [19, "restoring"],
  [20, "restoring ██░░  57 %"],
  [40, "restoring ██░░  57 %   930 MB of 1.61 GB"],
  [60, "restoring ███████░░░░░░  57 %   930 MB of 1.61 GB   850 MB/s"],
  [80, "restoring ████████░░░░░░░  57 %   930 MB of 1.61 GB   850 MB/s  1 s left"],
  [
    200,
    `restoring ${"█".repeat(23)}${"░".repeat(17)}  57 %   930 MB of 1.61 GB   850 MB/s  1 s left`,
  ],
] as const)("fits into %d columns", ([columns, line]) => {
  expect(progressLine(HALF_WAY, columns)).toBe(line);
});

test("leaves out the number of retries on a narrow terminal", () => {
  const retries = 12;
  expect(progressLine({ ...HALF_WAY, retries }, 80)).toBe(progressLine(HALF_WAY, 80));
  expect(progressLine({ ...HALF_WAY, retries }, 81)).toMatch(/ 12 retries$/);
});

test("never exceeds the terminal width and keeps the width of its bar", () => {
  for (let columns = 0; columns <= 120; columns += 1) {
    const bars = new Set<number>();
    for (let bytes = 0; bytes <= 1.61e9; bytes += 7e7) {
      for (const bytesPerSecond of [0, 1, 12_345, 1.99999e6, 9.87e9]) {
        const line = progressLine({ ...HALF_WAY, bytes, bytesPerSecond }, columns);
        expect(line.length).toBeLessThanOrEqual(columns);
        bars.add(/[█░]*/.exec(line.slice("restoring ".length))?.[0].length ?? 0);
      }
    }
    if (columns === 80) expect(bars.size).toBe(1);
  }
});

test.for([
  [{ bytes: 0, bytesPerSecond: 0 }, /^restoring ░+ {3}0 % {6}0 B of 1.61 GB {6}0 B\/s$/],
  [{ bytes: 1.6e9 }, / {2}99 % .* {2}1 s left$/],
  [{ bytes: 1.61e9 }, /^restoring █+ 100 % .*MB\/s {2}syncing$/],
  [{ bytes: 1.61e9, phase: "create" }, /^creating █+ 100 % .*MB\/s {2}syncing$/],
  [{ bytes: 1.61e9, phase: "verify" }, /^verifying █+ 100 % .*MB\/s$/],
  [{ bytes: 0, totalBytes: 0 }, /^restoring █+ 100 % {6}0 B of 0 B {3}850 MB\/s {2}syncing$/],
  [{ bytesPerSecond: 11e6 }, / {2}1 min 2 s left$/],
  [{ bytesPerSecond: 1e5 }, / {2}1 h 53 min left$/],
  [{ retries: 1 }, /^restoring █+░+ {2}57 % .*MB\/s {2}1 s left {10}1 retry$/],
  [{ retries: 1234 }, / {2}1 s left {10}1,234 retries$/],
  [{ bytesPerSecond: 1 }, / {2} {4}1 B\/s$/],
] as const)("formats %j", ([progress, line]) => {
  expect(progressLine({ ...HALF_WAY, ...progress }, 100)).toMatch(line);
});
