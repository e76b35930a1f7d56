/** The memory of filters. The tests of this file have their own instances of the modules. */
import { buildPathFilter, PathFilter, PathFilterStore, PathSet } from "hedgerow";
import { expect, test } from "vitest";
import { PATHMAP } from "../../../../tests/cases/paths/files.js";
import { buildMemory } from "../support/bundle.js";
import { memorySize } from "../support/wasm.js";

const file = buildPathFilter(Array.from({ length: 1000 }, (_, number) => `/archive/${number}`));

test("loading and freeing filters does not leak memory", () => {
  const sizes = [0, 10, 100, 500].map((count) =>
    buildPathFilter(Array.from({ length: count }, (_, number) => `/${number}`)),
  );
  let after100 = 0;
  for (let round = 0; round < 10_000; round += 1) {
    const filter = PathFilter.parse(sizes[round % sizes.length]!);
    filter.has(round % 7 === 0 ? "/".repeat(5000) : "/7");
    filter.free();
    if (round === 99) after100 = memorySize();
  }
  expect(memorySize()).toBe(after100);
});

test("refused files do not leak memory", async () => {
  const damaged = file.slice();
  damaged[damaged.length - 9] = 0x2d;
  const refuse = async () => {
    expect(() => PathFilter.parse(damaged)).toThrow("a character of Base64");
    await expect(PathFilter.load(new Response(damaged))).rejects.toThrow("a character of Base64");
    await expect(PathFilter.load(new Response("{}\n"))).rejects.toThrow("version");
  };
  for (let round = 0; round < 20; round += 1) await refuse();
  const before = memorySize();
  for (let round = 0; round < 500; round += 1) await refuse();
  expect(memorySize()).toBe(before);
});

test("a filter takes at most 4 kB of memory in addition to its file", async () => {
  const load = [
    () => PathFilter.parse(file),
    () => PathFilter.load(new Response(file)),
    () => PathFilter.load(streamOfPieces(file, 777)),
  ];
  for (const one of load) {
    const before = memorySize();
    const filters: PathFilter[] = [];
    while (filters.length < 1000) filters.push(await one());
    const held = (memorySize() - before) / filters.length;
    // Memory freed by earlier filters is used first, and memory grows by pages.
    expect(held).toBeLessThanOrEqual(file.length + 4096);
    expect(filters.every((filter) => filter.has("/archive/7"))).toBe(true);
    for (const filter of filters) filter.free();
  }
});

test("a filter keeps no memory of a long path", () => {
  const filters = Array.from({ length: 100 }, () => PathFilter.parse(file));
  const before = memorySize();
  const long = "/a".repeat(50_000);
  for (const filter of filters) expect(filter.has(long)).toBe(false);
  // Each has a buffer of three bytes for a character while it looks the path up.
  expect(memorySize() - before).toBeLessThanOrEqual(2 ** 20);
  for (const filter of filters) filter.free();
});

test("a header cannot make a filter allocate more than its file", async () => {
  const hostile = '{"version":"","bloom":{"n":1,"p":0.1,"m":4294967295,"k":1,"s":0}}\n"AAAA';
  const before = memorySize();
  for (let round = 0; round < 100; round += 1) {
    expect(() => PathFilter.parse(hostile)).toThrow("715827883 characters of Base64");
    await expect(PathFilter.load(new Response(hostile))).rejects.toThrow("715827883 characters");
  }
  expect(memorySize() - before).toBeLessThanOrEqual(2 ** 18);
});

test("a long file allocates no more memory than its first line allows", async () => {
  const long = new Uint8Array(2 ** 26);
  const before = memorySize();
  for (const start of ["", PATHMAP.slice(0, -1), PATHMAP, " ".repeat(2 ** 17)]) {
    new TextEncoder().encodeInto(start, long);
    const refusal = { code: "ERR_FILTER_FORMAT" };
    for (const source of [long, long.buffer]) {
      expect(() => PathFilter.parse(source)).toThrow(expect.objectContaining(refusal));
    }
    // In one chunk, with a correct length.
    const headers = { "content-length": `${long.length}` };
    const answer = () => new Response(streamOfPieces(long, long.length), { headers });
    await expect(PathFilter.load(answer())).rejects.toMatchObject(refusal);
    const store = new PathFilterStore({ maxBytes: 2 ** 30, load: answer });
    await expect(store.canExist("a", "/")).rejects.toMatchObject(refusal);
  }
  expect(memorySize() - before).toBeLessThanOrEqual(2 ** 20);
});

test("a store does not allocate memory for a claimed content length", async () => {
  const answer = () => new Response(file, { headers: { "content-length": `${2 ** 30}` } });
  const store = new PathFilterStore({ maxBytes: 2 ** 30, load: answer });
  const before = memorySize();
  expect(await store.canExist("a", "/archive/7")).toBe(true);
  expect([store.bytes, memorySize() - before <= 2 ** 18]).toEqual([file.length, true]);
  store.clear();
});

test("a store that evicts filters takes only the memory of those it holds", async () => {
  const store = new PathFilterStore({
    maxBytes: 10 * file.length,
    load: () => PathFilter.parse(file),
  });
  for (let key = 0; key < 50; key += 1) await store.canExist(`${key}`, "/");
  const before = memorySize();
  for (let key = 0; key < 2000; key += 1) await store.canExist(`${key % 37}`, "/");
  expect(memorySize()).toBe(before);
  expect([store.size, store.bytes]).toEqual([10, 10 * file.length]);
  store.clear();
});

test("PathSet.parse refuses a tree whose paths are much longer than its text", () => {
  const deep = (levels: number) => `${'{"a":1,"b":'.repeat(levels)}{"a":1}${"}".repeat(levels)}`;
  const refusal = {
    code: "ERR_PATH_SET",
    message: "path set: expected paths of at most 67108864 characters, found more",
  };
  expect(PathSet.parse(deep(1000)).has(`${"/b".repeat(1000)}/a`)).toBe(true);
  expect(() => PathSet.parse(deep(10_000))).toThrow(expect.objectContaining(refusal));
  // At the limit, and one character beyond it.
  const half = "a".repeat(2 ** 25 - 1);
  const tree = (first: string) => JSON.stringify({ [first]: 1, [half]: 1 });
  expect(PathSet.parse(tree(`b${half.slice(1)}`)).has(`/${half}`)).toBe(true);
  expect(() => PathSet.parse(tree(`b${half}`))).toThrow(expect.objectContaining(refusal));
});

test("building filters does not leak memory, even if it fails", () => {
  const paths = Array.from({ length: 3000 }, (_, number) => `/archive/${number}`);
  for (let round = 0; round < 5; round += 1) buildPathFilter(paths);
  const before = buildMemory().length;
  for (let round = 0; round < 100; round += 1) {
    buildPathFilter(paths);
    expect(() => buildPathFilter([...paths, 7 as unknown as string])).toThrow("found number");
  }
  expect(buildMemory().length).toBe(before);
});

/** Returns a stream of a file in chunks. */
function streamOfPieces(bytes: Uint8Array, length: number): ReadableStream<Uint8Array> {
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; at += length) pieces.push(bytes.slice(at, at + length));
  return new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
}
