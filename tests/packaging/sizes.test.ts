/** How large bundles become: what is promised, what is recorded, and what is not in them. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";

import { PATIENCE, packageFolder, SUITE } from "./support/project.js";
import { bundled, compressed, type Size, sizeOf } from "./support/sizes.js";
import { bundledWorker } from "./support/worker.js";

/** What a worker that strips headers and guards paths may have, its WebAssembly included. */
const PROMISED: Size = { raw: 49_250, gzip: 22_200 };

/** By how much sizes may differ from the record. */
const TOLERANCE = 0.02;

const RECORD = join(SUITE, "sizes.json");

/** What has sizes accepted that differ. */
const ACCEPT = "ACCEPT_SIZES";

const ADAPTERS = ["workers", "hono", "next", "connect", "fastify", "undici"];

const HEADERS = `export { HeaderStripper } from "hedgerow";`;

/** What is bundled: code, by what it uses. */
const CODE: Readonly<Record<string, string>> = {
  headers: HEADERS,
  "headers and paths": `export { guardPaths, HeaderStripper, PathFilter } from "hedgerow";`,
  everything: `export * from "hedgerow";`,
  ...Object.fromEntries(
    ADAPTERS.map((name) => [`hedgerow/${name}`, `export { hedgerow } from "hedgerow/${name}";`]),
  ),
};

/** Those under which bundles differ in size; at the edge of Vercel it is as in workerd. */
const CONDITIONS = ["default", "workerd"];

const textOf = (files: readonly Uint8Array[]) => Buffer.concat(files).toString("latin1");

let bundling: ReturnType<typeof bundledWorker> | undefined;

/** What worker there is, without its file of paths, which is the user's. */
async function worker(): Promise<Uint8Array[]> {
  bundling ??= bundledWorker();
  const modules = await bundling;
  return modules.filter(({ type }) => type !== "Data").map(({ contents }) => contents);
}

/** All sizes. */
async function measured(): Promise<Record<string, Size>> {
  const sizes: Record<string, Size> = {
    "worker of Wrangler, headers and paths": sizeOf(await worker()),
  };
  for (const [name, code] of Object.entries(CODE)) {
    for (const condition of CONDITIONS) {
      sizes[`${name}, ${condition}`] = sizeOf(await bundled(code, condition));
    }
  }
  return sizes;
}

const differs = (a: number, b = 0) => Math.abs(a - b) > TOLERANCE * b;

test("bundles are as large as recorded", { timeout: PATIENCE }, async () => {
  const sizes = await measured();
  if (process.env[ACCEPT] === "1") writeFileSync(RECORD, `${JSON.stringify(sizes, null, 2)}\n`);
  const record: Record<string, Size> = JSON.parse(readFileSync(RECORD, "utf8"));
  const told = ({ raw, gzip }: Partial<Size> = {}) => `${raw} bytes, ${gzip} compressed`;
  const differences = [...new Set([...Object.keys(sizes), ...Object.keys(record)])]
    .filter((name) => {
      const [now, then] = [sizes[name], record[name]];
      return now === undefined || differs(now.raw, then?.raw) || differs(now.gzip, then?.gzip);
    })
    .map((name) => `${name}: ${told(sizes[name])}; recorded: ${told(record[name])}`);
  const how = `if that is meant: ${ACCEPT}=1 npx vitest run tests/packaging/sizes.test.ts`;
  expect(differences, how).toEqual([]);
});

test("a worker with both features is as small as promised", { timeout: PATIENCE }, async () => {
  const files = await worker();
  expect(sizeOf(files).raw).toBeLessThanOrEqual(PROMISED.raw);
  // Each file compressed by itself, as it is sent, and all as one.
  expect(sizeOf(files).gzip).toBeLessThanOrEqual(PROMISED.gzip);
  expect(compressed(Buffer.concat(files))).toBeLessThanOrEqual(PROMISED.gzip);
});

describe.each([...CONDITIONS, "edge-light"])("what is not used is left out, %s", (condition) => {
  /** What only what reads filters says, what only their building does, and its WebAssembly either way. */
  const OF_PATHS = ["ERR_FILTER_FORMAT", "ERR_FILTER_TIMEOUT", "ERR_PATH_SET"];
  const OF_BUILDING = ["falsePositiveRate", ...bytesOf("build_bg.wasm")];

  /** Some of the bytes of a file, as they are and as Base64. */
  function bytesOf(name: string): string[] {
    const bytes = readFileSync(join(packageFolder("hedgerow"), "wasm", name)).subarray(
      6_000,
      6_060,
    );
    return [bytes.toString("latin1"), bytes.toString("base64")];
  }

  const found = (text: string, marks: string[]) => marks.filter((mark) => text.includes(mark));

  test("headers alone have nothing of paths, nor of their building", async () => {
    const text = textOf(await bundled(HEADERS, condition));
    expect(found(text, [...OF_PATHS, ...OF_BUILDING])).toEqual([]);
    expect(found(text, bytesOf("edge_bg.wasm"))).toHaveLength(1);
  });

  test("everything has all of it", async () => {
    const text = textOf(await bundled(CODE.everything ?? "", condition));
    expect(found(text, OF_PATHS)).toEqual(OF_PATHS);
    expect(found(text, OF_BUILDING)).toHaveLength(2);
  });

  test.for(ADAPTERS)("hedgerow/%s has no other adapter, and builds nothing", async (name) => {
    const text = textOf(await bundled(CODE[`hedgerow/${name}`] ?? "", condition));
    const names = ADAPTERS.map((name) => `hedgerow/${name}`);
    expect(found(text, names)).toEqual([`hedgerow/${name}`]);
    expect(found(text, OF_BUILDING)).toEqual([]);
  });
});
