/** All readers of path filters agree: in Rust, on Node, in workerd, in Wasmtime, on LuaJIT and in Python. */
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { buildPathFilter, PathFilter, type PathFilterOptions } from "hedgerow";
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Random } from "../../js/edge/test/support/random.js";
import { startWorker } from "../../scripts/lib/worker.mjs";
import { minutes, trials } from "../support/trials.js";

/** Number of keys looked up in each filter: few or many. A compiler of a reader may fail for either. */
const COUNTS = Array.from(
  { length: trials({ few: 12, all: 20 }) },
  (_, number) => trials({ few: 2_000, all: 5_000 }) >> (number % 5),
);
const ALL_KEYS = COUNTS.reduce((sum, count) => sum + count);

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Looks keys up in the filter of a file. Returns a line with 1 or 0 for each. */
type Reader = (file: string, keys: Buffer) => string | Promise<string>;

/** Returns a reader for a program that takes the file as its last argument and keys on standard input. */
function program(command: string, ...args: string[]): Reader {
  return (file, keys) => {
    return execFileSync(command, [...args, file], {
      cwd: root,
      input: keys,
      maxBuffer: 1 << 24,
      encoding: "utf8",
      stdio: "pipe",
    });
  };
}

/** Returns a reader for a program of this workspace, which Cargo builds on first use. */
function built(...target: string[]): Reader {
  let reader: Reader | undefined;
  return (file, keys) => {
    reader ??= program(build(target));
    return reader(file, keys);
  };
}

/** Returns a reader for a program that answers a line with the paths of a filter and of a file of keys, and waits. */
function server(...target: string[]): Reader {
  let ask: ((line: string) => Promise<string>) | undefined;
  return async (file, keys) => {
    ask ??= startServer(build(target));
    const keysFile = join(folder, "keys");
    writeFileSync(keysFile, keys);
    const answers = await ask(`${file}\t${keysFile}\n`);
    if (!/^[01]*$/.test(answers)) throw new Error(answers);
    return answers.replaceAll(/./g, "$&\n");
  };
}

/** Starts a program until the tests are done. Returns a function that sends it a line, and resolves with the next one. */
function startServer(command: string): (line: string) => Promise<string> {
  const { stdin, stdout } = spawn(command, { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
  closing.push(() => stdin.end());
  const lines = createInterface(stdout)[Symbol.asyncIterator]();
  return async (line) => {
    stdin.write(line);
    const { value, done } = await lines.next();
    if (done) throw new Error(`${command} exited`);
    return value;
  };
}

/** Builds a program and returns its path. */
function build(target: readonly string[]): string {
  const args = ["build", "--quiet", "--message-format=json", ...target];
  const messages = execFileSync("cargo", args, { cwd: root, encoding: "utf8", stdio: "pipe" });
  for (const line of messages.trim().split("\n")) {
    const { executable } = JSON.parse(line) as { executable?: string | null };
    if (executable) return executable;
  }
  throw new Error(`cargo ${args.join(" ")}: expected a program, found none`);
}

const readers: Record<string, Reader> = {
  Rust: built("-p", "hedgerow-paths", "--example", "answers"),
  // Takes minutes to build.
  ...(trials({ few: 0, all: 1 }) === 1 && {
    wasmtime: server("-p", "hedgerow-tests-wasmtime", "--bin", "answers"),
  }),
  LuaJIT: byKind(
    program("luajit", "examples/readers/path-filter.lua"),
    program("luajit", "examples/readers/fuse-filter.lua"),
  ),
  Python: byKind(
    program("python3", "examples/readers/path_filter.py"),
    program("python3", "examples/readers/fuse_filter.py"),
  ),
};

/** Returns a reader for both kinds of filter, each of which has a program of its own. */
function byKind(bloom: Reader, fuse: Reader): Reader {
  return (file, keys) => (file.endsWith(".fuse") ? fuse : bloom)(file, keys);
}

interface Sample {
  readonly name: string;
  readonly file: Uint8Array;
  readonly keys: readonly string[];
  /** Its path, for programs. */
  readonly path: string;
  readonly answers: string;
}

const closing: (() => void)[] = [];
let folder: string;
let worker: Miniflare;
const samples: Sample[] = [];

/** Returns a string without line feeds, with many characters of paths. */
function keyOf(random: Random): string {
  const length = random.below(10) === 0 ? random.below(2000) : random.below(80);
  let key = "";
  while (key.length < length) {
    const kind = random.below(20);
    if (kind > 2) key += random.text("/abcdefghijklmnopqrstuvwxyz0123456789-._~%", 8);
    else if (kind > 0) key += String.fromCodePoint(0x80 + random.below(0xd000));
    else key += String.fromCodePoint(0x10000 + random.below(0x100000));
  }
  return key;
}

function optionsOf(random: Random, number: number): PathFilterOptions {
  const seed = number % 3 === 0 ? 0 : random.below(2 ** 31) * 2 ** 21 + random.below(2 ** 21);
  const version = ['"m":1', "{}", "é", ""][number % 4]!;
  if (number % 2 === 1) return { kind: "fuse", seed, version };
  return {
    ...{ seed, version },
    falsePositiveRate: [0.5, 0.1, 1e-2, 1e-4, 1e-7][number % 5]!,
    sizing: number % 4 === 0 ? "promised" : "classic",
  };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "hedgerow-"));
  ({ worker } = await startWorker("tests/readers/worker.ts"));
  const random = new Random(20);
  for (const [number, count] of COUNTS.entries()) {
    const keys = Array.from({ length: count }, () => keyOf(random));
    const members = keys.slice(0, number < 2 ? 0 : random.below(count / 2));
    const options = optionsOf(random, number);
    const file = buildPathFilter(members, options);
    const path = join(folder, `${number}.${options.kind === "fuse" ? "fuse" : "filter"}`);
    writeFileSync(path, file);
    const filter = PathFilter.parse(file);
    const answers = keys.map((key) => (filter.has(key) ? "1\n" : "0\n")).join("");
    filter.free();
    const name = `${members.length} keys, ${JSON.stringify(options)}`;
    samples.push({ name, file, keys, path, answers });
  }
});

afterAll(async () => {
  for (const close of closing) close();
  await worker?.dispose();
  rmSync(folder, { recursive: true, force: true });
});

test(`the ${ALL_KEYS} keys include present and absent ones`, () => {
  const all = samples.map(({ answers }) => answers).join("");
  expect(all.length / 2).toBe(ALL_KEYS);
  expect(all.split("1").length).toBeGreaterThan(ALL_KEYS / 5);
  expect(all.split("0").length).toBeGreaterThan(ALL_KEYS / 5);
});

describe.each(Object.keys(readers))("the reader %s", (reader) => {
  // Python takes a second for three thousand keys.
  test("agrees with Node on every key", minutes({ all: 10 }), async () => {
    for (const { name, keys, path, answers } of samples) {
      const given = await readers[reader]!(
        path,
        Buffer.from(keys.map((key) => `${key}\n`).join("")),
      );
      expect(given === answers, name).toBe(true);
    }
  });

  test("refuses a file that is not a filter", async () => {
    const fuse =
      '{"version":"","fuse":{"n":0,"m":6,"l":2,"q":1,"s":0}}\n"AAAAAAAAAAAAAAAAAAAAAAAA"';
    const files = {
      "refused.filter": ["", "{}\n", '{"version":"","bloom":{}}\n"AAAA"'],
      "refused.fuse": ["", "{}\n", fuse.replace('"l":2', '"l":4'), fuse.replace('AA"', '"')],
    };
    for (const [name, texts] of Object.entries(files)) {
      for (const text of texts) {
        const path = join(folder, name);
        writeFileSync(path, text);
        const answer = async () => readers[reader]!(path, Buffer.from("/\n"));
        await expect(answer(), text).rejects.toThrow();
      }
    }
  });
});

test("workerd agrees with Node on every key", async () => {
  for (const { name, file, keys, answers } of samples) {
    const form = new FormData();
    form.set("file", new Blob([file as BlobPart]));
    form.set("keys", JSON.stringify(keys));
    const request = new Request("http://localhost/", { method: "POST", body: form });
    const body = await request.arrayBuffer();
    const headers = { "content-type": request.headers.get("content-type")! };
    const response = await worker.dispatchFetch(request.url, { method: "POST", body, headers });
    expect((await response.text()) === answers, name).toBe(true);
  }
});
