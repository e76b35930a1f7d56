/** The example that builds a filter in partitions, with DuckDB and Wasmtime for Python. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildPathFilter, mergePathFilters, PathFilter } from "hedgerow";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inRoot } from "../../scripts/lib/paths.mjs";
import { DISTRIBUTED_FILTER, pythonEnv } from "../../scripts/lib/python.mjs";
import { exampleFolder } from "../support/examples/run.js";

const example = exampleFolder("distributed-filter");
const wasm = inRoot("js/edge/wasm/build_bg.wasm");
const PATHS = 20_000;
const PATIENCE = 120_000;

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hedgerow-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function python(...args: string[]): string {
  const env = { ...process.env, ...pythonEnv(DISTRIBUTED_FILTER) };
  const options = { cwd: folder, env, encoding: "utf8", stdio: "pipe" } as const;
  return execFileSync("python3", args, options);
}

/** Runs Python that can import the example. */
const code = (text: string) =>
  python("-c", `import sys; sys.path.insert(0, ${JSON.stringify(example)})\n${text}`);

/** Builds the parts of a data set and returns them. */
function buildParts(dataSet: string): Uint8Array[] {
  const parts = `${dataSet}-parts`;
  python(join(example, "build_parts.py"), dataSet, parts, wasm);
  const names = readdirSync(join(folder, parts)).sort();
  return names.map((name) => readFileSync(join(folder, parts, name)));
}

test("the parts of four partitions merge to the filter built in one go", {
  timeout: PATIENCE,
}, () => {
  python(join(example, "make_paths.py"), String(PATHS), "paths", "paths.txt");
  const paths = readFileSync(join(folder, "paths.txt"), "utf8").trimEnd().split("\n");
  expect(new Set(paths).size).toBe(PATHS);
  const parts = buildParts("paths");
  expect(parts.length).toBe(4);
  const merged = mergePathFilters(parts);
  expect(Buffer.from(merged).equals(buildPathFilter(paths))).toBe(true);
  expect(PathFilter.parse(merged).wildcards).toBe(3);
});

test("paths of any characters are added, and rows that repeat a path count once", {
  timeout: PATIENCE,
}, () => {
  const paths = ["/a,b:c", "/two\nlines", "/é😀", "", "/\"quoted'", "/a".repeat(5000), "/blog/*"];
  code(`import duckdb, json
rows = [[path] for path in json.loads(${JSON.stringify(JSON.stringify(paths))}) * 3]
duckdb.execute("CREATE TABLE paths (path VARCHAR)")
duckdb.executemany("INSERT INTO paths VALUES (?)", rows)
all = duckdb.sql("SELECT path, hash(path) % 4 AS part FROM paths")
all.write_parquet("special", partition_by=["part"])`);
  const merged = mergePathFilters(buildParts("special"));
  const whole = buildPathFilter(paths, { capacity: paths.length * 3 });
  expect(Buffer.from(merged).equals(whole)).toBe(true);
});

test("the host writes the version, the seed and the rate as JavaScript does", () => {
  const version = 'a"b\\c\n\u0007é😀';
  const file = code(`from filter_builder import BuildModule, FilterBuilder
builder = FilterBuilder(BuildModule(${JSON.stringify(wasm)}), capacity=3, rate="0.01", seed=2**53 - 1)
builder.add_netstrings(b"2:/a,2:/b,")
builder.add_netstrings(b"")
sys.stdout.buffer.write(builder.build(${JSON.stringify(version)}))`);
  const options = { version, falsePositiveRate: 0.01, seed: 2 ** 53 - 1, capacity: 3 };
  expect(file).toBe(Buffer.from(buildPathFilter(["/a", "/b"], options)).toString());
});

test.for([
  ["add_netstrings(b'2:/a,3:/b,')", "expected a buffer of netstrings"],
  ["add_netstrings(b'2:/a,2:/b,') or builder.build()", "expected at most as many different paths"],
])("the host raises an error for %s", ([call, message]) => {
  const text = `from filter_builder import BuildModule, FilterBuilder
builder = FilterBuilder(BuildModule(${JSON.stringify(wasm)}), capacity=1)
builder.${call}`;
  expect(() => code(text)).toThrow(message);
});
