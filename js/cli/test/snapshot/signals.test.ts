/** Progress in a terminal, and signals. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { trials } from "../../../../tests/support/trials.js";
import { ended, hedgerowProcess, start, startInTerminal } from "../support/bin.js";
import { LARGE_DATA, makeLargeImage } from "../support/images.js";

const root = mkdtempSync(join(tmpdir(), "hedgerow-cli-"));
const [image, file, target] = ["disk.img", "disk.vhs", "target"].map((name) =>
  join(root, name),
) as [string, string, string];

beforeAll(async () => {
  makeLargeImage(image);
  // Small pieces, each of which is one slow read.
  const options = ["--level", "1", "--piece-size", "256KiB"];
  const made = await hedgerowProcess(["snapshot", "create", image, file, ...options]);
  expect(made).toMatchObject({ code: 0, err: "" });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));
beforeEach(() => writeFileSync(target, "old"));

/** Commands that run long enough to be interrupted and write to the target. */
const LONG = {
  create: ["snapshot", "create", image, target, "--level", "19", "--workers", "1"],
  restore: ["snapshot", "restore", file, target, "--workers", "1"],
};

const VERIFY = ["snapshot", "verify", file, "--workers", "1"];

/** Slows reads down, so that a command takes seconds on any machine. */
const SLOW = {
  NODE_OPTIONS: `--import=${new URL("../../../snapshot/test/support/preload/slow-disk.mjs", import.meta.url)}`,
};

const temporaryFiles = () => readdirSync(root).filter((name) => name.startsWith(".hedgerow-"));

/** Waits until shortly after a command has begun to write. */
async function untilWriting(): Promise<void> {
  await vi.waitUntil(() => temporaryFiles().length > 0, { timeout: 20_000, interval: 5 });
  await delay(100);
}

/** Asserts that the target is unchanged and no other file exists. */
function expectNothingLeft(): void {
  expect(readFileSync(target, "utf8")).toBe("old");
  expect(readdirSync(root).sort()).toEqual(["disk.img", "disk.vhs", "target"]);
}

/** Escape sequences for terminals. */
const ESCAPE = "\u001b[";
const LINE_START = `${ESCAPE}1G`;
const CLEAR_LINE = `${ESCAPE}0K`;
const SHOW_CURSOR = `${ESCAPE}?25h`;
const CYAN = `${ESCAPE}36m`;

/** Returns every state of the line that a terminal showed, in order. */
function linesOn(terminal: string): string[] {
  const lines = terminal.replaceAll(LINE_START, "\n").split(/\r?\n/).map(stripVTControlCharacters);
  return lines.filter((line) => line !== "");
}

/** The gate tries one of them here, and SIGINT in the tests that follow. */
const SIGNALS = (["SIGTERM", "SIGINT", "SIGHUP"] as const).slice(0, trials({ few: 1, all: 3 }));

describe.for(Object.entries(LONG))("%s", ([, args]) => {
  test.for(SIGNALS)("leaves nothing behind on %s", async (signal) => {
    const child = start(args, SLOW);
    const end = ended(child);
    await untilWriting();
    child.kill(signal);
    expect(await end).toEqual({ code: signal, out: "", err: "" });
    expectNothingLeft();
  });

  test("leaves nothing behind after a signal that npm forwards too", async () => {
    const child = start(args, SLOW);
    const end = ended(child);
    await untilWriting();
    for (let times = 0; times < 3; times += 1) child.kill("SIGINT");
    expect(await end).toEqual({ code: "SIGINT", out: "", err: "" });
    expectNothingLeft();
  });

  test("removes the progress line and leaves nothing behind on Ctrl-C", async () => {
    const child = startInTerminal(80, args, SLOW);
    const end = ended(child);
    await untilWriting();
    child.stdin.write("\u0003");
    const { code, out } = await end;
    expect(code).toBe(130);
    expect(out).toContain(CLEAR_LINE + SHOW_CURSOR);
    expect(out.split(CLEAR_LINE).at(-1)?.replaceAll(SHOW_CURSOR, "")).toBe("");
    expectNothingLeft();
  });

  test("leaves nothing behind when the terminal is closed", async () => {
    const child = startInTerminal(80, args, SLOW);
    const end = ended(child);
    await untilWriting();
    child.kill("SIGKILL");
    await end;
    await vi.waitUntil(() => temporaryFiles().length === 0, { timeout: 10_000 });
    expectNothingLeft();
  });
});

describe("progress", () => {
  /** What terminals of these widths showed of a command that verifies. The narrow one has no colours. */
  const outputs: { readonly columns: number; readonly out: string }[] = [];

  beforeAll(async () => {
    for (const [columns, env] of [
      [40, { NO_COLOR: "1" }],
      [80, {}],
    ] as const) {
      const { code, out } = await ended(startInTerminal(columns, VERIFY, { ...SLOW, ...env }));
      expect(code).toBe(0);
      outputs.push({ columns, out });
    }
  });

  test("shows one progress line and removes it before the result", () => {
    for (const { columns, out } of outputs) {
      const lines = linesOn(out);
      const shown = lines.filter((line) => line.includes("verifying"));
      expect(shown.length).toBeGreaterThan(3);
      for (const line of shown) {
        expect(line).toMatch(/^. verifying(?: [█░]{4,} +\d+ %.*)?$/);
        expect(line.length).toBeLessThan(columns);
      }
      const full = / +\d+ % +[\d.]+ MB of 134 MB +[\d.]+ [MG]B\/s {2}\d+ s left$/;
      expect(shown.some((line) => full.test(line))).toBe(columns === 80);
      expect(lines.slice(lines.lastIndexOf(shown.at(-1)!) + 1)[0]).toMatch(/^image size {2}/);
      expect(out.indexOf(SHOW_CURSOR)).toBeLessThan(out.indexOf("image size"));
    }
  });

  test("shows progress up to all restored data", async () => {
    const args = ["snapshot", "restore", file, target];
    const { code, out } = await ended(startInTerminal(80, args, SLOW));
    expect(code).toBe(0);
    const size = `${(LARGE_DATA / 1e6).toPrecision(3)} MB`;
    expect(linesOn(out).join("\n")).toMatch(new RegExp(` +[\\d.]+ .?B of ${size} `));
  });

  test("shows progress without colour with NO_COLOR", () => {
    const [narrow, wide] = outputs;
    expect(wide?.out).toContain(CYAN);
    expect(narrow?.out).not.toContain(CYAN);
  });

  test("shows no progress outside a terminal", async () => {
    const { code, out } = await ended(startInTerminal(0, [...VERIFY, "--json"]));
    expect(code).toBe(0);
    expect(out).toMatch(/^\{.*\}\r\n$/);
    expect(await hedgerowProcess(VERIFY)).toMatchObject({ code: 0, err: "" });
  });
});
