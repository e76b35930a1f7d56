/** Wrong values for every argument and option of every function of the package. */
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import * as api from "@hedgerow/snapshot";
import {
  type AttachOptions,
  type CacheOptions,
  type CheckStoreOptions,
  type CollectOptions,
  type CreateOptions,
  checkStore,
  createSnapshot,
  type Disk,
  DiskStore,
  type ExpireOptions,
  type FlattenOptions,
  flattenSnapshot,
  type GenerationOptions,
  type GetOptions,
  ImageCache,
  inspectSnapshot,
  type ListOptions,
  type NewDiskOptions,
  type OpenOptions,
  openSnapshot,
  type ReadOptions,
  type ReadWorkOptions,
  type RestoreOptions,
  restoreSnapshot,
  SnapshotError,
  type SnapshotErrorCode,
  type StoreOptions,
  type VerifyOptions,
  verifySnapshot,
} from "@hedgerow/snapshot";
import * as opentelemetry from "@hedgerow/snapshot/opentelemetry";
import { type Meter, metrics } from "@opentelemetry/api";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import fc from "../../../tests/support/fast-check.js";
import { leftovers, temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { noise } from "../../../tests/support/snapshots/image.js";
import { trials } from "../../../tests/support/trials.js";
import { KIB, MIB } from "./support/cache.js";

const SEED = 0x5eed;

const path = temporaryFolder();
const [image, snapshot, made] = [path("image"), path("a.vhs"), path("made")];

let [cache, disk, digest] = [{} as ImageCache, {} as Disk, ""];
let [store, unsaved] = [{} as DiskStore, ""];

/** Puts a local image with unsaved changes back, which the calls remove. */
const restoreUnsaved = () => cpSync(path("disk/unsaved"), path("disk/images"), { recursive: true });

/** Makes the store, and an image of it that was lost with its changes. */
async function openStore(): Promise<void> {
  store = await DiskStore.open(path("disk/store"), { images: path("disk/images") });
  await store.create("a", { image, pieceSize: 4096 });
  const lost = await store.attach("a");
  await lost.write(0, Buffer.from("lost"));
  await (await store.attach("a", { steal: true })).detach();
  await lost.detach().catch(() => {});
  for await (const { image: left } of store.unsaved()) unsaved = left;
  cpSync(path("disk/images"), path("disk/unsaved"), { recursive: true });
}

beforeAll(async () => {
  writeFileSync(image, noise("image", 64 * KIB));
  ({ digest } = await createSnapshot(image, snapshot, { workers: 1 }));
  cache = await ImageCache.open(path("cache"), { maxBytes: 4 * MIB });
  mkdirSync(path("disk"));
  disk = await openSnapshot(snapshot, { image: path("disk/image"), fill: "none" });
  await openStore();
});
afterAll(() => Promise.all([cache.close(), disk.close(), store.close()]));

/** All error codes. */
const CODES: Readonly<Record<SnapshotErrorCode, true>> = {
  ...{ ERR_ARGUMENT: true, ERR_IMAGE: true, ERR_IMAGE_CHANGED: true, ERR_SOURCE: true },
  ...{ ERR_SOURCE_CHANGED: true, ERR_SNAPSHOT_FORMAT: true, ERR_SNAPSHOT_DIGEST: true },
  ...{ ERR_TARGET: true, ERR_CACHE: true, ERR_CACHE_SIZE: true, ERR_WORKER: true },
  ...{ ERR_DISK_CLOSED: true, ERR_STORE: true, ERR_NO_DISK: true, ERR_DISK_EXISTS: true },
  ...{ ERR_ATTACHED: true, ERR_LEASE_LOST: true, ERR_HOOK: true },
};

/** Every option with a valid value, to be replaced by a wrong one. */
type All<Options> = { readonly [Name in keyof Options]-?: NonNullable<Options[Name]> };

const transfer = () => ({
  ...{ connections: 1, partSize: MIB, retries: 0 },
  timeouts: { connect: 1000, firstByte: 1000, stall: 1000 },
  headers: { authorization: "none" },
  s3: {
    ...{ endpoint: "http://127.0.0.1:1", region: "nowhere", forcePathStyle: true },
    credentials: { accessKeyId: "id", secretAccessKey: "secret", sessionToken: "token" },
  },
  gcs: {
    endpoint: "http://127.0.0.1:1",
    credentials: { client_email: "account", private_key: "key" },
  },
  azure: { endpoint: "http://127.0.0.1:1", accountKey: "a2V5", sasToken: "sig=a" },
});

const read = (): All<ReadOptions> => ({
  ...transfer(),
  ...{ digest, resolve: () => undefined, signal: new AbortController().signal },
});

const work = () => ({ workers: 1, onProgress: () => {} });

/** A function and valid arguments for it. */
interface Call {
  readonly args: () => readonly unknown[];
  /** Calls the function, and closes what it returns. */
  readonly call: (...args: never[]) => Promise<unknown>;
}

/** Returns a call of a function with `args`. */
function callOf<Args extends unknown[]>(
  args: () => Args,
  call: (...args: Args) => Promise<unknown>,
): Call {
  return { args, call: (...given) => call(...(given as unknown[] as Args)) };
}

/** All functions of the package with arguments. */
const CALLS: Readonly<Record<string, Call>> = {
  createSnapshot: callOf((): [string, string, CreateOptions] => {
    const signal = new AbortController().signal;
    const encoding = { level: 1, pieceSize: 4096, overwrite: true, verify: true };
    return [image, made, { ...transfer(), ...work(), ...encoding, signal }];
  }, createSnapshot),
  "createSnapshot of a delta": callOf((): [string, string, All<CreateOptions>] => {
    const { digest: baseDigest, ...options } = read();
    const encoding = { level: 1, pieceSize: MIB, format: "raw" } as const;
    const ranges = { changed: [{ start: 0, end: 1 }], overlay: false };
    const delta = { base: snapshot, baseDigest, cache, ...ranges };
    const writing = { overwrite: true, verify: true };
    return [image, made, { ...options, ...work(), ...encoding, ...writing, ...delta }];
  }, createSnapshot),
  restoreSnapshot: callOf((): [string, string, All<RestoreOptions>] => {
    return [snapshot, made, { ...read(), ...work(), overwrite: true, resume: true, cache }];
  }, restoreSnapshot),
  flattenSnapshot: callOf((): [string, string, All<FlattenOptions>] => {
    const encoding = { level: 1, pieceSize: 4096, overwrite: true, verify: true };
    return [snapshot, made, { ...read(), ...work(), ...encoding }];
  }, flattenSnapshot),
  "restoreSnapshot without a cache": callOf((): [string, string, RestoreOptions] => {
    return [snapshot, made, { ...read(), ...work(), overwrite: true, resume: true }];
  }, restoreSnapshot),
  inspectSnapshot: callOf((): [string, ReadOptions] => [snapshot, read()], inspectSnapshot),
  verifySnapshot: callOf(
    (): [string, ReadWorkOptions] => [snapshot, { ...read(), ...work() }],
    verifySnapshot,
  ),
  openSnapshot: callOf(
    (): [string, All<OpenOptions>] => {
      const trace = { version: 1, ranges: [[0, 1]] } as const;
      const fill = { fill: "none", fillBytesPerSecond: 2 ** 40, trace, onStall: "error" } as const;
      return [snapshot, { ...read(), ...work(), ...fill, image: made, readOnly: true, cache }];
    },
    async (...args) => {
      const disk = await openSnapshot(...args);
      await disk.close();
      for (const name of leftovers(path())) rmSync(path(name));
    },
  ),
  "ImageCache.open": callOf(
    (): [string, All<CacheOptions>] => {
      return [path("cache"), { maxBytes: 4 * MIB, create: false, verifyBytesPerSecond: 1 }];
    },
    async (...args) => (await ImageCache.open(...args)).close(),
  ),
  "ImageCache.prototype.get": callOf(
    (): [string, All<GetOptions>] => {
      const copy = { copyTo: made, overwrite: true, durable: false };
      return [snapshot, { ...read(), ...work(), ...copy }];
    },
    async (...args) => (await cache.get(...args)).release(),
  ),
  "ImageCache.prototype.has": callOf(
    (): [string, ReadOptions] => [snapshot, read()],
    (...args) => cache.has(...args),
  ),
  "ImageCache.prototype.delete": callOf(
    (): [string, ReadOptions] => [snapshot, read()],
    (...args) => cache.delete(...args),
  ),
  "ImageCache.prototype.prune": callOf(
    (): [number] => [4 * MIB],
    (...args) => cache.prune(...args),
  ),
  "ImageCache.prototype.verify": callOf(
    (): [All<VerifyOptions>] => [
      { signal: new AbortController().signal, bytesPerSecond: Number.MAX_SAFE_INTEGER },
    ],
    (...args) => cache.verify(...args),
  ),
  observeCache: callOf(
    (): [ImageCache, Meter] => [cache, metrics.getMeter("tests")],
    async (...args) => opentelemetry.observeCache(...args)(),
  ),
  observeDisk: callOf(
    (): [Disk, Meter] => [disk, metrics.getMeter("tests")],
    async (...args) => opentelemetry.observeDisk(...args)(),
  ),
  observeStore: callOf(
    (): [DiskStore, Meter] => [store, metrics.getMeter("tests")],
    async (...args) => opentelemetry.observeStore(...args)(),
  ),
  checkStore: callOf(
    (): [string, All<CheckStoreOptions>] => {
      const { headers: _, ...options } = transfer();
      return [path("disk/checked"), { ...options, signal: new AbortController().signal }];
    },
    (...args) => checkStore(...args),
  ),
  "DiskStore.open": callOf(
    (): [string, All<StoreOptions>] => {
      const { headers: _, ...options } = transfer();
      const { signal } = new AbortController();
      const own = { images: path("disk/images"), create: false, owner: "tests", lease: 1000 };
      return [path("disk/store"), { ...options, ...own, cache, signal }];
    },
    async (...args) => (await DiskStore.open(...args)).close(),
  ),
  "DiskStore.prototype.create": callOf(
    (): [string, Omit<All<NewDiskOptions>, "image" | "size">] => {
      const { headers, digest: pinned, resolve, signal } = read();
      const encoding = { level: 1, pieceSize: 4096, format: "raw" } as const;
      const further = { volumes: { state: {} }, metadata: 1, label: "new" };
      const options = { digest: pinned, resolve, headers, ...further, signal };
      return ["b", { ...work(), ...encoding, ...options, from: snapshot }];
    },
    async (name, ...args) => {
      await store.create(name, ...args);
      await store.remove(name);
    },
  ),
  "DiskStore.prototype.attach": callOf(
    (): [string, All<AttachOptions>] => {
      const trace = { version: 1, ranges: [[0, 1]] } as const;
      const fill = { fill: "none", fillBytesPerSecond: 2 ** 40, trace, onStall: "error" } as const;
      const hooks = { freeze: () => {}, thaw: () => {}, hookTimeout: 1000 };
      const { signal } = new AbortController();
      return ["a", { ...work(), ...fill, ...hooks, steal: false, saveEvery: "1d", signal }];
    },
    async (...args) => (await store.attach(...args)).detach(),
  ),
  "DiskStore.prototype.fork": callOf(
    (): [string, string[], All<GenerationOptions>] => {
      return ["a", ["b"], { generation: 1, signal: new AbortController().signal }];
    },
    async (name, forks, ...args) => {
      await store.fork(name, forks, ...args);
      for (const fork of forks) await store.remove(fork);
    },
  ),
  "DiskStore.prototype.rollback": callOf(
    (): [string, number, { signal: AbortSignal }] => {
      return ["a", 1, { signal: new AbortController().signal }];
    },
    (...args) => store.rollback(...args),
  ),
  "DiskStore.prototype.history": callOf(
    (): [string, { signal: AbortSignal }] => ["a", { signal: new AbortController().signal }],
    (...args) => store.history(...args).next(),
  ),
  "DiskStore.prototype.list": callOf(
    (): [All<ListOptions>] => {
      return [{ prefix: "a", after: "a", signal: new AbortController().signal }];
    },
    (...args) => store.list(...args).next(),
  ),
  "DiskStore.prototype.stat": callOf(
    (): [string, { signal: AbortSignal }] => ["a", { signal: new AbortController().signal }],
    (...args) => store.stat(...args),
  ),
  "DiskStore.prototype.expire": callOf(
    (): [All<ExpireOptions>] => {
      const { signal } = new AbortController();
      return [{ name: "a", keepLast: 100, olderThan: "1d", dryRun: true, signal }];
    },
    (...args) => store.expire(...args),
  ),
  "DiskStore.prototype.collect": callOf(
    (): [All<CollectOptions>] => {
      return [{ grace: "1h", dryRun: true, signal: new AbortController().signal }];
    },
    (...args) => store.collect(...args),
  ),
  "DiskStore.prototype.explain": callOf(
    (): [string, { signal: AbortSignal }] => [digest, { signal: new AbortController().signal }],
    (...args) => store.explain(...args),
  ),
  "DiskStore.prototype.remove": callOf(
    (): [string, { signal: AbortSignal }] => ["b", { signal: new AbortController().signal }],
    async (...args) => {
      await store.fork("a", "b");
      await store.remove(...args).finally(() => store.remove("b").catch(() => {}));
    },
  ),
  "DiskStore.prototype.verify": callOf(
    (): [string, All<GenerationOptions>] => {
      return ["a", { generation: 1, signal: new AbortController().signal }];
    },
    (...args) => store.verify(...args),
  ),
  "DiskStore.prototype.recover": callOf(
    (): [string, string, { label: string; signal: AbortSignal }] => {
      return [unsaved, "b", { label: "lost", signal: new AbortController().signal }];
    },
    async (left, name, ...args) => {
      restoreUnsaved();
      await store.recover(left, name, ...args);
      await store.remove(name);
    },
  ),
  "DiskStore.prototype.discard": callOf(
    (): [string] => [unsaved],
    async (...args) => {
      restoreUnsaved();
      await store.discard(...args);
    },
  ),
};

/** Options of `createSnapshot` that are missing in the arguments of a full snapshot. */
const DELTA_OPTIONS = ["base", "baseDigest", "cache", "changed", "format", "overlay", "resolve"];

/** The names of all options. */
const OPTIONS = [
  ...new Set(
    Object.values(CALLS)
      .map(({ args }) => args().at(-1))
      .filter((last) => Object.getPrototypeOf(last) === Object.prototype)
      .flatMap((options) => Object.keys(options as object)),
  ),
];

/** Methods without arguments. */
const WITHOUT_ARGUMENTS = ["clear", "entries", "stats", "unsaved", "close"];

/** Path to a value: an argument, an option in it, or a nested option. */
type Position = readonly (string | number)[];

const isPlain = (value: unknown) =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype;

function positionsOf(value: unknown, from: Position): Position[] {
  const inside = isPlain(value) ? Object.entries(value as object) : [];
  return [from, ...inside.flatMap(([name, member]) => positionsOf(member, [...from, name]))];
}

/** Returns all positions of a call. */
const allPositions = ({ args }: Call) =>
  args().flatMap((value, index) => positionsOf(value, [index]));

/** Returns a copy of a value with `by` at a position. */
function replaced(value: unknown, [name, ...rest]: Position, by: unknown): unknown {
  if (name === undefined) return by;
  const members = value as Record<string | number, unknown>;
  const member = replaced(members[name], rest, by);
  if (Array.isArray(value)) return value.map((old, index) => (index === name ? member : old));
  return { ...members, [name]: member };
}

const NUMBERS = [Number.NaN, Number.POSITIVE_INFINITY, 1.5, "1", 1n, null];
const PATHS = [3, "", "a\0b", "s3://bucket/key", null];
const LOCATIONS = [
  3,
  "",
  "a\0b",
  "ftp://a/b",
  "s3://",
  "s3://a",
  "s3://a/../b",
  "http://[",
  "gs://a",
  "az://a/b",
];
const DURATIONS = [Number.NaN, "1 s", "s", "1w", "soon", true];
const NAMES = ["../a", "a/b", "\ud800", 7];

/** What each option refuses, whatever function has it: values just beyond its bounds, and of other types. */
const REFUSED: Readonly<Record<string, readonly unknown[]>> = {
  workers: [0, 257, ...NUMBERS],
  onProgress: ["often", {}],
  signal: [{}, null, new AbortController()],
  connections: [0, 257, ...NUMBERS],
  partSize: [2 ** 16 - 1, 2 ** 30 + 1, ...NUMBERS],
  retries: [-1, 101, ...NUMBERS],
  timeouts: [3, [], { connect: 0 }, { firstByte: "25h" }, { stall: "1" }],
  headers: [3, new Headers({ a: "b" }), new Map(), { "a b": "c" }, { a: "b\r\nc" }, { a: 1 }],
  s3: [
    ...[3, [], { endpoint: "ftp://a" }, { region: "" }, { forcePathStyle: 1 }],
    ...[{ credentials: {} }, { credentials: { accessKeyId: "a", secretAccessKey: 1 } }],
  ],
  gcs: [
    3,
    [],
    { endpoint: "ftp://a" },
    { credentials: {} },
    { credentials: { client_email: "a" } },
  ],
  azure: [3, [], { endpoint: "ftp://a" }, { accountKey: "a b" }, { sasToken: "sv=1" }],
  digest: ["abc", "g".repeat(64), ["0".repeat(64)], 3],
  baseDigest: ["abc", 3],
  resolve: ["a.vhs", {}, null],
  level: [0, 20, ...NUMBERS],
  pieceSize: [2 ** 11, 2 ** 25, ...NUMBERS],
  format: ["qcow2", 1],
  base: LOCATIONS,
  from: LOCATIONS,
  changed: [
    ...[3, "3", {}, [3], [null], [{ start: 0 }], [{ start: 5, end: 4 }], [{ start: -1, end: 4 }]],
    ...[[{ start: 0, end: 1.5 }], [{ start: 0, end: 2 ** 53 }]],
  ],
  cache: [{}, null, "a"],
  ...{ overwrite: [1], verify: [1], resume: ["yes"], durable: [1], create: [1, null], dryRun: [0] },
  ...{ readOnly: ["no"], steal: [1], overlay: [1] },
  ...{ image: PATHS, images: PATHS, copyTo: PATHS },
  fill: ["some", true],
  fillBytesPerSecond: [0, ...NUMBERS],
  onStall: ["fail", 1],
  trace: [true, 3, { version: 2, ranges: [] }, { version: 1, ranges: [[0, -1]] }, "ftp://a/b"],
  maxBytes: [MIB - 1, 2 ** 53, ...NUMBERS],
  verifyBytesPerSecond: [0, ...NUMBERS],
  bytesPerSecond: [0, ...NUMBERS],
  owner: ["o".repeat(257), "a\nb", 3],
  label: ["l".repeat(257), "\u001b[2J", 3],
  lease: ["0.9s", "25h", 999, 86_400_001, -1, ...DURATIONS],
  saveEvery: [999, ...DURATIONS],
  hookTimeout: [0, "25h", ...DURATIONS],
  olderThan: [-1, ...DURATIONS],
  grace: [-1, ...DURATIONS],
  ...{ freeze: ["sync"], thaw: ["sync"] },
  volumes: [3, [], { a: 3 }, { A: {} }, { a: { kind: "disk" } }, { a: { size: -1 } }],
  metadata: [() => {}, 1n, "x".repeat(4_095)],
  generation: [0, ...NUMBERS],
  keepLast: [0, ...NUMBERS],
  ...{ name: NAMES, prefix: NAMES, after: NAMES },
};

/** Lists the files in the folder, except for the cache. */
const files = () =>
  readdirSync(path())
    .filter((name) => name !== "cache")
    .sort();

/** Calls a function with a wrong value. Throws unless it succeeds, or fails with a typed error and no effect. */
async function expectTyped({ args, call }: Call, position: Position, wrong: unknown) {
  const given = replaced(args(), position, wrong) as never[];
  const before = files();
  try {
    await call(...given);
  } catch (error) {
    if (!(error instanceof SnapshotError)) throw error;
    expect(CODES).toHaveProperty(error.code);
    expect(files()).toEqual(before);
  } finally {
    rmSync(made, { force: true });
  }
}

/** Fails the test if a promise rejection is unhandled. */
function expectNoUnhandled(): void {
  const unhandled: unknown[] = [];
  const listen = (reason: unknown) => unhandled.push(reason);
  process.on("unhandledRejection", listen);
  onTestFinished(() => {
    process.off("unhandledRejection", listen);
    expect(unhandled).toEqual([]);
  });
}

test("covers all functions of the package, and all options", () => {
  expect(Object.keys(REFUSED).sort()).toEqual([...OPTIONS].sort());
  const names = Object.entries({ ...api, ...opentelemetry }).flatMap(([name, value]) =>
    typeof value === "function" && value !== SnapshotError ? [name] : [],
  );
  const classes = Object.entries({ ImageCache, DiskStore });
  const methods = classes.flatMap(([owner, { prototype }]) =>
    Object.getOwnPropertyNames(prototype)
      .filter((name) => name !== "constructor" && !WITHOUT_ARGUMENTS.includes(name))
      .map((name) => `${owner}.prototype.${name}`),
  );
  const statics = classes.flatMap(([owner, value]) =>
    Object.getOwnPropertyNames(value)
      .filter((name) => !["length", "name", "prototype"].includes(name))
      .map((name) => `${owner}.${name}`),
  );
  expect(
    Object.keys(CALLS)
      .filter((name) => !name.includes(" "))
      .sort(),
  ).toEqual(
    [
      ...names.filter((name) => !classes.some(([owner]) => owner === name)),
      ...methods,
      ...statics,
    ].sort(),
  );
});

describe.each(Object.entries(CALLS))("%s", (name, call) => {
  test(`${name} accepts valid values for all arguments and options`, async () => {
    await call.call(...(call.args() as never[]));
    rmSync(made, { force: true });
  });

  test(`${name} rejects wrong values of each option by its name, and has no effect`, async () => {
    const args = call.args();
    const options = args.at(-1) as object;
    const before = files();
    for (const option of isPlain(options) ? Object.keys(options) : []) {
      for (const wrong of REFUSED[option]!) {
        const given = args.with(-1, { ...options, [option]: wrong }) as never[];
        await expect(call.call(...given), `${option}: ${String(wrong)}`).rejects.toMatchObject({
          ...{ name: "SnapshotError", code: "ERR_ARGUMENT" },
          message: expect.stringMatching(new RegExp(`^${option}\\b.*: .*expected .*found `)),
        });
      }
    }
    expect(files()).toEqual(before);
  });

  test(`${name} rejects options that no function has, and has no effect`, async () => {
    const known = new Set(["headers", "credentials", "trace", "volumes"]);
    for (const position of allPositions(call)) {
      const value = position.reduce<unknown>(
        (of, at) => Reflect.get(of as object, at),
        call.args(),
      );
      if (!isPlain(value) || known.has(String(position.at(-1)))) continue;
      const before = files();
      const given = replaced(call.args(), position, {
        ...(value as object),
        misspelt: 1,
      }) as never[];
      await expect(call.call(...given), position.join(".")).rejects.toMatchObject({
        ...{ name: "SnapshotError", code: "ERR_ARGUMENT" },
        message: expect.stringContaining('expected known options, found "misspelt"'),
      });
      expect(files()).toEqual(before);
    }
  });

  test(`${name} rejects the options of other functions by name, and has no effect`, async () => {
    const args = call.args();
    const own = Object(args.at(-1)) as object;
    const at = isPlain(own) ? args.length - 1 : args.length;
    for (const other of OPTIONS.filter((option) => isPlain(own) && !(option in own))) {
      // One of the contents of a disk, and what a snapshot without a base may have.
      if (name.endsWith(".create") && ["image", "size"].includes(other)) continue;
      if (name === "createSnapshot" && DELTA_OPTIONS.includes(other)) continue;
      if (name.startsWith("restoreSnapshot") && other === "cache") continue;
      const given = args.with(at, { ...own, [other]: 1 }) as never[];
      await expect(call.call(...given), other).rejects.toMatchObject({
        code: "ERR_ARGUMENT",
        message: expect.stringContaining(`expected known options, found "${other}"`),
      });
    }
  });

  test(`${name} rejects any other value with a code`, async () => {
    expectNoUnhandled();
    const positions = allPositions(call);
    const anything = fc
      .anything({ withBigInt: true, withNullPrototype: true, withDate: true, withMap: true })
      .filter((value) => typeof value !== "string");
    const numRuns = trials({ few: 12, all: 250 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...positions), anything, (position, wrong) =>
        expectTyped(call, position, wrong),
      ),
      { seed: SEED, numRuns },
    );
  });
});
