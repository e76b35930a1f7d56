import {
  buildPathFilter,
  HeaderStripper,
  PathFilter,
  PathFilterBuilder,
  PathFilterStore,
} from "hedgerow";
import { equal, rejectionOf, thrownBy } from "../support/assert.js";
import { bytesOf } from "../support/text.js";
import type { Cases, Runtime } from "./case.js";
import { PATHMAP, streamOf } from "./paths/files.js";

/** How often things are made until what they need is there. */
const FIRST = 5;
/** How often they are made then: who loses 128 bytes each time needs more than a page more. */
const MORE = 1200;
/** More than any memory has room for. */
const MOST = 100_000;

const PATHS = Array.from({ length: 10_000 }, (_, number) => `/archive/${number}`);

interface Freed {
  free(): void;
}

/** What takes room in a memory: first much, then little. */
type Takers = readonly (() => Freed)[];

function takersOfEdge(): Takers {
  const file = buildPathFilter(PATHS);
  return [() => PathFilter.parse(file, { validate: false }), () => PathFilter.parse(PATHMAP)];
}

function takersOfBuild(): Takers {
  const builderOf = (paths: readonly string[]) => {
    const builder = new PathFilterBuilder();
    for (const path of paths) builder.add(path);
    return builder;
  };
  return [() => builderOf(PATHS), () => builderOf(["/"])];
}

/** Takes all the room that a memory has left, until it grows, so that nothing else is lost in it. */
function takeRoom({ memoryBytes }: Runtime, takers: Takers): Freed[] {
  return takers.flatMap((take) => {
    const before = memoryBytes();
    const taken: Freed[] = [];
    while (memoryBytes() === before) {
      if (taken.push(take()) > MOST) throw new Error("expected a memory that grows, found none");
    }
    return taken;
  });
}

/** Asserts that a memory without room stays as large as it is when things are made and freed. */
async function keepsMemory(
  runtime: Runtime,
  makeAndFree: () => void | Promise<void>,
  { more = MORE, takers = takersOfEdge() } = {},
): Promise<void> {
  const taken = takeRoom(runtime, takers);
  for (let round = 0; round < FIRST; round += 1) await makeAndFree();
  const before = runtime.memoryBytes();
  for (let round = 0; round < more; round += 1) await makeAndFree();
  const after = runtime.memoryBytes();
  for (const one of taken) one.free();
  equal(after, before, `bytes of memory after ${more} more`);
}

export const memory: Cases = {
  "strippers that are made, used and freed take no more memory": async (runtime) => {
    const block = bytesOf(`x-a: 1\r\nb: 2\r\nconnection: ${"c, ".repeat(300)}d\r\n\r\n`);
    await keepsMemory(runtime, () => {
      using stripper = new HeaderStripper(["x-*", "connection"]);
      stripper.matches(`x-${"a".repeat(5000)}`);
      stripper.strip(new Headers({ "x-a": "1", connection: "b", b: "2" }));
      stripper.stripRaw(["connection", "b, c", "X-A", "1"]);
      stripper.stripBlock(block.slice());
    });
  },

  "strippers of many rules, and large blocks, leave no memory taken": async (runtime) => {
    const rules = Array.from({ length: 2000 }, (_, number) => `x-rule-${number}-${"a".repeat(99)}`);
    const block = bytesOf("x-rule-1: 1\r\n".repeat(20_000));
    await keepsMemory(
      runtime,
      () => {
        using stripper = new HeaderStripper(rules);
        stripper.stripBlock(block.slice());
      },
      { more: 30 },
    );
  },

  "rules and blocks that are refused leave no memory taken": async (runtime) => {
    await keepsMemory(runtime, () => {
      thrownBy(() => new HeaderStripper(["x-a", "x-b*", "*"]));
      using stripper = new HeaderStripper(["x-a"]);
      thrownBy(() => stripper.stripBlock(bytesOf(`x-a: ${"1".repeat(5000)}\n`)));
    });
  },

  "filters that are read, asked and freed take no more memory": async (runtime) => {
    const file = buildPathFilter(PATHS);
    await keepsMemory(runtime, () => {
      using filter = PathFilter.parse(file);
      equal([filter.has("/archive/7"), filter.has("/".repeat(5000))], [true, false]);
    });
  },

  "filters that are loaded and freed take no more memory": async (runtime) => {
    const file = buildPathFilter(PATHS);
    const load = async () => (await PathFilter.load(streamOf(file, 9000))).free();
    await keepsMemory(runtime, load, { more: 300 });
  },

  "files that are refused leave no memory taken": async (runtime) => {
    const file = buildPathFilter(PATHS);
    const cut = file.slice(0, -100);
    await keepsMemory(
      runtime,
      async () => {
        thrownBy(() => PathFilter.parse(cut));
        await rejectionOf(PathFilter.load(streamOf(cut, 9000)));
      },
      { more: 300 },
    );
  },

  "a store holds no more memory than its filters need": async (runtime) => {
    const file = buildPathFilter(PATHS);
    const load = () => new Response(file.slice());
    const store = new PathFilterStore({ maxBytes: 3 * file.length, load });
    await keepsMemory(
      runtime,
      async () => {
        for (const key of ["a", "b", "c", "d", "e"]) await store.canExist(key, "/");
      },
      { more: 60 },
    );
    for (const key of ["a", "b", "c", "d", "e"]) store.delete(key);
  },

  "filters that are built, and builders that are not used, take no more memory": async (
    runtime,
  ) => {
    const paths = PATHS.slice(0, 100);
    await keepsMemory(
      runtime,
      () => {
        buildPathFilter(paths);
        new PathFilterBuilder().add("/".repeat(5000)).free();
      },
      { takers: takersOfBuild() },
    );
  },
};
