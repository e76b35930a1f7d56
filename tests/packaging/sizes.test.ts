/** Sizes of bundles: the promised and recorded ones, and the code that has to be left out. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { emptyFolder, packageFolder, SUITE, TEST_TIMEOUT } from "./support/project.js";
import { bundledWorker } from "./support/worker.js";

/** Maximum size of a worker that strips headers and guards paths, including its WebAssembly. */
const PROMISED: Size = { raw: 32_000, gzip: 14_750 };

/** Relative difference from the record that is tolerated. */
const TOLERANCE = 0.02;

const RECORD = join(SUITE, "sizes.json");

/** The environment variable that accepts sizes that differ. */
const ACCEPT = "ACCEPT_SIZES";

const ADAPTERS = ["workers", "hono", "next", "connect", "fastify", "undici"];

const HEADERS = `export { HeaderStripper } from "hedgerow";`;

/** The code of each bundle, by the features that it uses. */
const CODE: Readonly<Record<string, string>> = {
  headers: HEADERS,
  "headers and paths": `export { guardPaths, HeaderStripper, PathFilter } from "hedgerow";`,
  everything: `export * from "hedgerow";`,
  "hedgerow/block": `export { stripBlock } from "hedgerow/block";`,
  ...Object.fromEntries(
    ADAPTERS.map((name) => [`hedgerow/${name}`, `export { hedgerow } from "hedgerow/${name}";`]),
  ),
};

/** Conditions under which bundles differ in size. The edge of Vercel equals workerd. */
const CONDITIONS = ["default", "workerd"];

const textOf = (files: readonly Uint8Array[]) => Buffer.concat(files).toString("latin1");

let bundling: ReturnType<typeof bundledWorker> | undefined;

/** Returns the modules of the worker, without the path filter, which belongs to the user. */
async function worker(): Promise<Uint8Array[]> {
  bundling ??= bundledWorker({ name: "worker-sizes" });
  const modules = await bundling;
  return modules.filter(({ type }) => type !== "Data").map(({ contents }) => contents);
}

/** Measures all bundles. */
async function measure(): Promise<Record<string, Size>> {
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

test("keeps bundles at their recorded sizes", { timeout: TEST_TIMEOUT }, async () => {
  const sizes = await measure();
  if (process.env[ACCEPT] === "1") writeFileSync(RECORD, `${JSON.stringify(sizes, null, 2)}\n`);
  const record: Record<string, Size> = JSON.parse(readFileSync(RECORD, "utf8"));
  const describeSize = ({ raw, gzip }: Partial<Size> = {}) => `${raw} bytes, ${gzip} compressed`;
  const differences = [...new Set([...Object.keys(sizes), ...Object.keys(record)])]
    .filter((name) => {
      const [now, then] = [sizes[name], record[name]];
      return now === undefined || differs(now.raw, then?.raw) || differs(now.gzip, then?.gzip);
    })
    .map(
      (name) => `${name}: ${describeSize(sizes[name])}; recorded: ${describeSize(record[name])}`,
    );
  const hint = `if that is intended: ${ACCEPT}=1 npx vitest run tests/packaging/sizes.test.ts`;
  expect(differences, hint).toEqual([]);
});

test("keeps a worker with both features within the promised size", {
  timeout: TEST_TIMEOUT,
}, async () => {
  const files = await worker();
  expect(sizeOf(files).raw).toBeLessThanOrEqual(PROMISED.raw);
  // Compressed separately, as the files are sent, and together.
  expect(sizeOf(files).gzip).toBeLessThanOrEqual(PROMISED.gzip);
  expect(compressed(Buffer.concat(files))).toBeLessThanOrEqual(PROMISED.gzip);
});

describe.each([...CONDITIONS, "edge-light"])("a bundle for the condition %s", (condition) => {
  /** Texts that only the reader of filters contains, and texts and bytes of their builder. */
  const READER_MARKS = ["ERR_FILTER_FORMAT", "ERR_FILTER_TIMEOUT", "ERR_PATH_SET"];
  const BUILDER_MARKS = ["falsePositiveRate", ...bytesOf("build_bg.wasm")];
  const OTHER_MODULES = [...bytesOf("paths_bg.wasm"), ...bytesOf("block_bg.wasm")];

  /** Returns part of a file, raw and in Base64. */
  function bytesOf(name: string): string[] {
    const bytes = readFileSync(join(packageFolder("hedgerow"), "wasm", name)).subarray(
      6_000,
      6_060,
    );
    return [bytes.toString("latin1"), bytes.toString("base64")];
  }

  const found = (text: string, marks: string[]) => marks.filter((mark) => text.includes(mark));

  test("contains no code for paths when only headers are used", async () => {
    const text = textOf(await bundled(HEADERS, condition));
    expect(found(text, [...READER_MARKS, ...BUILDER_MARKS, ...OTHER_MODULES])).toEqual([]);
  });

  test("contains all code when everything is used", async () => {
    const text = textOf(await bundled(CODE.everything ?? "", condition));
    expect(found(text, READER_MARKS)).toEqual(READER_MARKS);
    expect(found(text, BUILDER_MARKS)).toHaveLength(2);
  });

  test.for(ADAPTERS)(
    "contains neither other adapters nor the filter builder when hedgerow/%s is used",
    async (name) => {
      const text = textOf(await bundled(CODE[`hedgerow/${name}`] ?? "", condition));
      const names = ADAPTERS.map((name) => `hedgerow/${name}`);
      expect(found(text, names)).toEqual([`hedgerow/${name}`]);
      expect(found(text, BUILDER_MARKS)).toEqual([]);
    },
  );
});

interface Size {
  readonly raw: number;
  readonly gzip: number;
}

const compressed = (bytes: Uint8Array) => gzipSync(bytes, { level: 9 }).length;

/** Returns the total size of files. */
function sizeOf(files: readonly Uint8Array[]): Size {
  const sum = (sizes: number[]) => sizes.reduce((a, b) => a + b, 0);
  return { raw: sum(files.map(({ length }) => length)), gzip: sum(files.map(compressed)) };
}

/**
 * Bundles and minifies code for a runtime.
 *
 * @param condition the one by which the runtime resolves its WebAssembly
 */
async function bundled(code: string, condition: string): Promise<Uint8Array[]> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: emptyFolder() },
    bundle: true,
    minify: true,
    write: false,
    outdir: "out",
    format: "esm",
    target: "es2022",
    conditions: [condition],
    external: ["next", "node:*"],
    loader: { ".wasm": "copy" },
    logLevel: "silent",
  });
  return outputFiles.map(({ contents }) => contents);
}
