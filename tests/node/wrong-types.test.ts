/** Calls every public function with values of the wrong type for each argument and option. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import util from "node:util";
import { metrics } from "@opentelemetry/api";
import * as all from "hedgerow";
import { stripBlock } from "hedgerow/block";
import * as connect from "hedgerow/connect";
import * as fastify from "hedgerow/fastify";
import * as hono from "hedgerow/hono";
import { readPathFilterSync } from "hedgerow/node";
import { observeEdge } from "hedgerow/opentelemetry";
import * as undici from "hedgerow/undici";
import * as workers from "hedgerow/workers";
import { afterAll, describe, expect, test } from "vitest";
import fc from "../support/fast-check.js";
import { trials } from "../support/trials.js";

const ANY: readonly unknown[] = [
  ...[undefined, null, true, false, 0, -1, 5, Number.NaN, 1n, "", "text", Symbol("text")],
  ...[[], [1], [1, 2], ["a", 1], [null, "b"], [[], "b"], {}, { a: 1 }, Object.create(null)],
  ...[() => {}, class {}, new Date(0), new Map([[1, 2]]), new Set([1]), /a/, Promise.resolve(5)],
  ...[new ArrayBuffer(2), new Uint8Array(2), new DataView(new ArrayBuffer(2)), new URL("a:b")],
  { [Symbol.iterator]: 5 },
  ...fc.sample(fc.anything(), { numRuns: trials({ few: 50, all: 2000 }), seed: 18 }),
];

/** Returns whether a value has a type. */
type Type = (value: unknown) => boolean;

const string: Type = (value) => typeof value === "string";
const boolean: Type = (value) => typeof value === "boolean";
const number: Type = (value) => typeof value === "number" && value >= 0;
const callable: Type = (value) => typeof value === "function";
const strings: Type = (value) => Array.isArray(value) && value.every(string);
const object: Type = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const bytes: Type = (value) => util.types.isUint8Array(value);
const file: Type = (value) => string(value) || bytes(value) || util.types.isArrayBuffer(value);
const place: Type = (value) => string(value) || value instanceof URL;
const never: Type = () => false;
const optional =
  (type: Type): Type =>
  (value) =>
    value === undefined || type(value);

/** A factory of valid values for an argument, and its type. */
type Argument = readonly [valid: () => unknown, type: Type];

/** A function of the package and its arguments. */
type Call = readonly [name: string, call: (...args: never[]) => unknown, ...args: Argument[]];

const folder = mkdtempSync(join(tmpdir(), "hedgerow-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const built = all.buildPathFilter(["/a"]);
const path = join(folder, "filter");
writeFileSync(path, built);

const filter = all.PathFilter.parse(built);
const set = new all.PathSet(["/a"]);
const stripper = new all.HeaderStripper(["x-a", "connection"]);
const load = () => new all.PathSet([]);
const store = new all.PathFilterStore({ maxBytes: 10, load });
const guard = all.guardPaths({ paths: set });
const hooked = { addHook: () => hooked };
const request = { rawHeaders: ["x-a", "b"], headers: {} };
const response = () => ({ writeHead() {}, getHeaderNames: () => [] });

/** Returns a call for each option, and one for the options object. */
function withOptions(
  name: string,
  call: (options: never) => unknown,
  valid: object,
  types: Readonly<Record<string, Type>>,
): Call[] {
  const of = (option: string) => (value: unknown) => call({ ...valid, [option]: value } as never);
  return [
    [name, call, [() => valid, object]],
    ...Object.entries(types).map(
      ([option, type]): Call => [
        `${name} with ${option}`,
        of(option),
        [() => valid[option as keyof typeof valid], type],
      ],
    ),
  ];
}

const PATHS: Readonly<Record<string, Type>> = {
  paths: callable,
  methods: optional(strings),
  normalize: optional(callable),
  onError: optional(callable),
};
const ADAPTER = {
  ...PATHS,
  headers: optional(strings),
  paths: optional(callable),
  dryRun: optional(boolean),
  report: optional(callable),
  trust: optional(callable),
};
const HEADERS = { requests: optional(strings), responses: optional(strings) };
const adapterOptions = { headers: ["x-a"], paths: set };

/** Returns the calls of an adapter's factory. */
function ofAdapter(name: string, call: (options: never) => unknown, hasNotFound = true): Call[] {
  const types = hasNotFound ? { ...ADAPTER, notFound: optional(callable) } : ADAPTER;
  const headers = { requests: ["x-a"], responses: ["x-b"] };
  return [
    ...withOptions(name, call, adapterOptions, types),
    ...withOptions(
      `${name}, headers`,
      (given) => call({ headers: given } as never),
      headers,
      HEADERS,
    ).slice(1),
    ...withOptions(
      `${name}, headers`,
      (given) => call({ headers: given } as never),
      { keep: ["x-a"] },
      { keep: strings },
    ).slice(1),
  ];
}

const CALLS: Call[] = [
  [
    "new HeaderStripper",
    (rules, options) => new all.HeaderStripper(rules, options),
    [() => ["x-a"], strings],
    [() => ({}), optional(object)],
  ],
  ...withOptions(
    "new HeaderStripper",
    (options) => new all.HeaderStripper(["x-a"], options),
    {},
    { mode: optional(never) },
  ).slice(1),
  ["matches", (name) => stripper.matches(name), [() => "x-a", string]],
  ["strips", (name) => stripper.strips(name), [() => "x-a", string]],
  ["strip", (headers) => stripper.strip(headers), [() => new Headers(), never]],
  ["stripRaw", (raw) => stripper.stripRaw(raw), [() => ["x-a", "b"], strings]],
  ["stripBlock", stripBlock, [() => stripper, never], [() => new Uint8Array(), bytes]],
  ["preset", all.preset, [() => "next", never], [() => "responses", optional(never)]],
  [
    "new PathSet",
    (paths, length) => new all.PathSet(paths, length),
    [() => ["/a"], strings],
    [() => 5, optional(number)],
  ],
  ["PathSet.parse", all.PathSet.parse, [() => "[]", file]],
  ["has of a PathSet", (key) => set.has(key), [() => "/a", string]],
  ["has of a PathFilter", (key) => filter.has(key), [() => "/a", string]],
  ["normalizePath", all.normalizePath, [() => "/a", string]],
  ["canExist", all.canExist, [() => set, never], [() => "/a", string]],
  ["a guard", guard, [() => new Request("http://localhost/"), never]],
  [
    "canExist of a store",
    (key, path) => store.canExist(key, path),
    [() => "k", string],
    [() => "/a", string],
  ],
  ["use", (key, ask) => store.use(key, ask), [() => "k", string], [() => () => {}, callable]],
  ["delete", (key) => store.delete(key), [() => "k", string]],
  ["add", (key) => new all.PathFilterBuilder().add(key), [() => "/a", string]],
  ["buildPathFilter", all.buildPathFilter, [() => ["/a"], strings], [() => ({}), optional(object)]],
  ["measurePathFilter", all.measurePathFilter, [() => built, bytes]],
  [
    "mergePathFilters",
    all.mergePathFilters,
    [() => [built], never],
    [() => ({}), optional(object)],
  ],
  ...withOptions(
    "mergePathFilters",
    (options) => all.mergePathFilters([built], options),
    {},
    { version: optional(string) },
  ).slice(1),
  ["PathFilter.parse", all.PathFilter.parse, [() => built, file], [() => ({}), optional(object)]],
  [
    "PathFilter.load",
    all.PathFilter.load,
    [() => new Response(built), never],
    [() => ({}), optional(object)],
  ],
  ["readPathFilterSync", readPathFilterSync, [() => path, place], [() => ({}), optional(object)]],
  ...withOptions(
    "reading",
    (reading) => all.PathFilter.parse(built, reading),
    {},
    {
      validate: optional(boolean),
    },
  ).slice(1),
  ...withOptions(
    "new PathFilterBuilder",
    (options) => new all.PathFilterBuilder(options),
    {},
    {
      falsePositiveRate: optional(
        (value) => typeof value === "number" && value >= 1e-18 && value <= 0.5,
      ),
      seed: optional((value) => Number.isSafeInteger(value) && (value as number) >= 0),
      version: optional(string),
      sizing: optional(never),
      capacity: optional((value) => Number.isSafeInteger(value) && (value as number) >= 1),
    },
  ).slice(1),
  [
    "new PathFilterBuilder",
    (options) => new all.PathFilterBuilder(options),
    [() => ({}), optional(object)],
  ],
  ...withOptions(
    "new PathFilterStore",
    (options) => new all.PathFilterStore(options),
    { maxBytes: 1, load },
    {
      maxBytes: number,
      load: callable,
      timeout: optional(number),
      missingFor: optional(number),
    },
  ),
  [
    "load of a store",
    (value) => new all.PathFilterStore({ maxBytes: 1, load: () => value }).canExist("k", "/a"),
    [() => set, never],
  ],
  ...withOptions(
    "guardPaths",
    all.guardPaths,
    { paths: set },
    { ...PATHS, notFound: optional(callable) },
  ),
  ...ofAdapter("hedgerow/connect", connect.hedgerow),
  ...ofAdapter("hedgerow/fastify", (options) => fastify.hedgerow(hooked as never, options)),
  ...ofAdapter("hedgerow/hono", hono.hedgerow),
  ...ofAdapter("hedgerow/undici", undici.hedgerow, false),
  ...ofAdapter("hedgerow/workers", (options) => workers.hedgerow(options)),
  [
    "hedgerow/workers with a handler",
    (handler) => workers.hedgerow(adapterOptions, handler),
    [() => ({ fetch() {} }), optional(never)],
  ],
  ["observeEdge", (meter) => observeEdge(meter)(), [() => metrics.getMeter("test"), never]],
  ["stripRequest", connect.stripRequest, [() => stripper, never], [() => request, never]],
  ["stripResponse", connect.stripResponse, [() => stripper, never], [response, never]],
];

const documented = new Set(
  readFileSync(new URL("../../js/edge/README.md", import.meta.url), "utf8").match(/ERR_[A-Z_]+/g),
);

/** Returns the outcome of a call. A refusal must have a documented code. */
async function outcome(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    if (!(error instanceof all.HedgerowError)) return `threw ${error}`;
    return documented.has(error.code) ? "refused" : `no documented code: ${error.code}`;
  }
  return "accepted";
}

const CASES = CALLS.map(([name, call, ...args]) => ({ name, call, args }));

describe.each(CASES)("$name", ({ call, args }) => {
  test("accepts valid arguments", async () => {
    expect(await outcome(() => call(...(args.map(([valid]) => valid()) as never[])))).toBe(
      "accepted",
    );
  });

  test.each(args.map(([, type], at) => [at, type] as const))(
    "refuses values of the wrong type for argument %i with a HedgerowError",
    async (at, type) => {
      const wrong = ANY.filter((value) => !type(value));
      expect(wrong.length).toBeGreaterThan(20);
      for (const value of wrong) {
        const given = args.map(([valid], index) => (index === at ? value : valid()));
        const result = await outcome(() => call(...(given as never[])));
        expect(result === "refused" ? "" : `${fc.stringify(value)}: ${result}`).toBe("");
      }
    },
  );
});
