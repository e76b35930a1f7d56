import {
  buildPathFilter,
  HeaderStripper,
  mergePathFilters,
  PathFilter,
  PathFilterBuilder,
  PathFilterStore,
} from "hedgerow";
import { stripBlock } from "hedgerow/block";
import { equal, rejectionOf, thrownBy } from "../support/assert.js";
import { bytesOf } from "../support/text.js";
import type { Cases, Runtime } from "./case.js";
import { PATHMAP, streamOf } from "./paths/files.js";

/** Rounds before measuring, until all buffers are allocated. */
const WARM_UP = 5;
/** Rounds measured: a leak of 128 bytes per round takes more than a page. */
const ROUNDS = 600;
/** More objects than fit into any memory. */
const TOO_MANY = 100_000;

const PATHS = Array.from({ length: 10_000 }, (_, number) => `/archive/${number}`);

interface Freeable {
  free(): void;
}

/** Functions that allocate objects in a memory: large ones first, then small ones. */
type Allocators = readonly (() => Freeable)[];

function blockAllocators(): Allocators {
  const usedOn = (block: Uint8Array) => {
    const stripper = new HeaderStripper(["x-a"]);
    stripBlock(stripper, block);
    return stripper;
  };
  const long = bytesOf(`b: ${"2".repeat(60_000)}\r\n`);
  return [() => usedOn(long), () => usedOn(bytesOf("b: 2\r\n"))];
}

function pathAllocators(): Allocators {
  const file = buildPathFilter(PATHS);
  return [() => PathFilter.parse(file, { validate: false }), () => PathFilter.parse(PATHMAP)];
}

function buildAllocators(): Allocators {
  const builderOf = (paths: readonly string[]) => {
    const builder = new PathFilterBuilder();
    for (const path of paths) builder.add(path);
    return builder;
  };
  return [() => builderOf(PATHS), () => builderOf(["/"])];
}

/** Fills a memory until it grows, so that leaks cannot hide in free space. */
function fillMemory({ memoryBytes }: Runtime, allocators: Allocators): Freeable[] {
  return allocators.flatMap((allocate) => {
    // The first one may instantiate a module.
    const allocated = [allocate()];
    const before = memoryBytes();
    while (memoryBytes() === before) {
      if (allocated.push(allocate()) > TOO_MANY) throw new Error("the memory does not grow");
    }
    return allocated;
  });
}

/** Asserts that a full memory does not grow when objects are created and freed. */
async function keepsMemory(
  runtime: Runtime,
  createAndFree: () => void | Promise<void>,
  { rounds = ROUNDS, allocators = pathAllocators() } = {},
): Promise<void> {
  const allocated = fillMemory(runtime, allocators);
  for (let round = 0; round < WARM_UP; round += 1) await createAndFree();
  const before = runtime.memoryBytes();
  for (let round = 0; round < rounds; round += 1) await createAndFree();
  const after = runtime.memoryBytes();
  for (const one of allocated) one.free();
  equal(after, before, `bytes of memory after ${rounds} rounds`);
}

export const memory: Cases = {
  "creating, using and freeing strippers does not leak memory": async (runtime) => {
    const block = bytesOf(`x-a: 1\r\nb: 2\r\nconnection: ${"c, ".repeat(300)}d\r\n\r\n`);
    const createAndFree = () => {
      using stripper = new HeaderStripper(["x-*", "connection"]);
      stripper.matches(`x-${"a".repeat(5000)}`);
      stripper.strip(new Headers({ "x-a": "1", connection: "b", b: "2" }));
      stripper.stripRaw(["connection", "b, c", "X-A", "1"]);
      stripBlock(stripper, block.slice());
    };
    await keepsMemory(runtime, createAndFree, { allocators: blockAllocators() });
  },

  "freeing strippers with many rules and large blocks does not leak memory": async (runtime) => {
    const rules = Array.from({ length: 2000 }, (_, number) => `x-rule-${number}-${"a".repeat(99)}`);
    const block = bytesOf("x-rule-1: 1\r\n".repeat(20_000));
    await keepsMemory(
      runtime,
      () => {
        using stripper = new HeaderStripper(rules);
        stripBlock(stripper, block.slice());
      },
      { rounds: 30, allocators: blockAllocators() },
    );
  },

  "refused rules and blocks do not leak memory": async (runtime) => {
    const refuse = () => {
      thrownBy(() => new HeaderStripper(["x-a", "x-b*", "*"]));
      using stripper = new HeaderStripper(["x-a"]);
      thrownBy(() => stripBlock(stripper, bytesOf(`x-a: ${"1".repeat(5000)}\n`)));
    };
    await keepsMemory(runtime, refuse, { allocators: blockAllocators() });
  },

  "parsing, querying and freeing filters does not leak memory": async (runtime) => {
    const file = buildPathFilter(PATHS);
    await keepsMemory(runtime, () => {
      using filter = PathFilter.parse(file);
      equal([filter.has("/archive/7"), filter.has("/".repeat(5000))], [true, false]);
    });
  },

  "loading and freeing filters does not leak memory": async (runtime) => {
    const file = buildPathFilter(PATHS);
    const load = async () => (await PathFilter.load(streamOf(file, 9000))).free();
    await keepsMemory(runtime, load, { rounds: 300 });
  },

  "refused filter files do not leak memory": async (runtime) => {
    const file = buildPathFilter(PATHS);
    const cut = file.slice(0, -100);
    await keepsMemory(
      runtime,
      async () => {
        thrownBy(() => PathFilter.parse(cut));
        await rejectionOf(PathFilter.load(streamOf(cut, 9000)));
      },
      { rounds: 300 },
    );
  },

  "a store takes no more memory than its filters need": async (runtime) => {
    const file = buildPathFilter(PATHS);
    const load = () => new Response(file.slice());
    const store = new PathFilterStore({ maxBytes: 3 * file.length, load });
    await keepsMemory(
      runtime,
      async () => {
        for (const key of ["a", "b", "c", "d", "e"]) await store.canExist(key, "/");
      },
      { rounds: 60 },
    );
    for (const key of ["a", "b", "c", "d", "e"]) store.delete(key);
  },

  "building filters and freeing unused builders does not leak memory": async (runtime) => {
    const paths = PATHS.slice(0, 100);
    await keepsMemory(
      runtime,
      () => {
        buildPathFilter(paths);
        new PathFilterBuilder().add("/".repeat(5000)).free();
      },
      { allocators: buildAllocators() },
    );
  },

  "merging filters, and refusing to, does not leak memory": async (runtime) => {
    const paths = PATHS.slice(0, 100);
    const [one, other] = [7, 8].map((seed) => buildPathFilter(paths, { seed })) as [
      Uint8Array,
      Uint8Array,
    ];
    await keepsMemory(
      runtime,
      () => {
        mergePathFilters([one, one]);
        thrownBy(() => mergePathFilters([one, other]));
      },
      { allocators: buildAllocators() },
    );
  },
};
