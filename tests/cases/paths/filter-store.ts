import { buildPathFilter, PathFilter, PathFilterStore, type PathLookup, PathSet } from "hedgerow";
import { equal, isRefusal, refused, rejectionOf } from "../../support/assert.js";
import type { Cases } from "../case.js";

/** A lookup with one path that counts as `byteLength` bytes and records whether it was freed. */
class Fake implements PathLookup {
  frees = 0;
  readonly wildcards = 0;

  constructor(
    readonly path: string,
    readonly byteLength = 100,
  ) {}

  get isFreed(): boolean {
    return this.frees > 0;
  }

  has(path: string): boolean {
    equal(this.isFreed, false, `${this.path} is asked after free()`);
    return path === this.path;
  }

  free(): void {
    this.frees += 1;
  }
}

/** Returns a store of fakes, each with its key as its path, and all fakes that were loaded. */
function storeOf(maxBytes: number, bytesOf: (key: string) => number = () => 100) {
  const loaded: Fake[] = [];
  const load = async (key: string) => {
    await Promise.resolve();
    const fake = new Fake(key, bytesOf(key));
    loaded.push(fake);
    return fake;
  };
  const keptOf = () => loaded.filter((fake) => !fake.isFreed).map((fake) => fake.path);
  return { store: new PathFilterStore({ maxBytes, load }), loaded, keptOf };
}

export const filterStore: Cases = {
  "a store loads a filter, a set or a response once": async () => {
    const file = buildPathFilter(["/about", "/blog/*"]);
    let loads = 0;
    const sources = [
      () => PathFilter.parse(file),
      () => new PathSet(["/about", "/blog/*"]),
      async () => new Response(file),
    ];
    for (const source of sources) {
      const load = () => {
        loads += 1;
        return source();
      };
      const store = new PathFilterStore({ maxBytes: 1e6, load });
      equal(await store.canExist("a", "/about"), true);
      equal(store.canExist("a", "/blog/x/y"), true);
      equal(store.canExist("a", "/nothing"), false);
      equal(store.size, 1);
      store.clear();
    }
    equal(loads, sources.length);
  },

  "a store loads a filter once for concurrent queries": async () => {
    const { store, loaded } = storeOf(1000);
    const asked = Array.from({ length: 100 }, () => store.canExist("a", "a"));
    equal(new Set(await Promise.all(asked)).has(false), false);
    equal(loaded.length, 1);
    equal(store.bytes, 100);
  },

  "a store evicts and frees the least recently used filter first": async () => {
    const { store, keptOf } = storeOf(300);
    for (const key of ["a", "b", "c"]) await store.canExist(key, key);
    store.canExist("a", "a");
    await store.canExist("d", "d");
    equal(keptOf(), ["a", "c", "d"]);
    equal([store.bytes, store.size], [300, 3]);
    await store.canExist("e", "e");
    equal(keptOf(), ["a", "d", "e"]);
  },

  "a store uses a filter larger than the limit without storing it": async () => {
    const { store, loaded } = storeOf(50);
    equal(await Promise.all([store.canExist("a", "a"), store.canExist("a", "b")]), [true, false]);
    equal([loaded.length, loaded[0]!.isFreed, store.bytes, store.size], [1, true, 0, 0]);
    await store.canExist("a", "a");
    equal(loaded.length, 2);
  },

  "a store frees a filter only after the queries that wait for it": async () => {
    const { store, loaded } = storeOf(100);
    const asked = ["a", "b", "a", "c", "b"].map((key) => store.canExist(key, key));
    store.delete("a");
    equal(await Promise.all(asked), [true, true, true, true, true]);
    equal(loaded.map(({ frees }) => frees).sort(), [0, 1, 1]);
    equal([store.bytes, store.size], [100, 1]);
  },

  "a failed load rejects all waiting queries, and is not stored": async () => {
    let loads = 0;
    const load = async (key: string) => {
      loads += 1;
      if (loads === 1) throw new RangeError("the loader's own");
      return new Fake(key);
    };
    const store = new PathFilterStore({ maxBytes: 1000, load });
    const failed = [store.canExist("a", "a"), store.canExist("a", "b")];
    for (const answer of failed) {
      equal(((await rejectionOf(answer as Promise<boolean>)) as Error).message, "the loader's own");
    }
    equal([store.size, store.bytes], [0, 0]);
    equal(await store.canExist("a", "a"), true);
    equal(loads, 2);
  },

  "a store rejects if load throws or returns a response without a filter": async () => {
    const load = (key: string) => {
      if (key === "a") throw new RangeError("at once");
      return new Response("not found", { status: 404 });
    };
    const store = new PathFilterStore({ maxBytes: 1000, load });
    const first = await rejectionOf(Promise.resolve(store.canExist("a", "/")));
    equal((first as Error).message, "at once");
    const second = await rejectionOf(Promise.resolve(store.canExist("b", "/")));
    isRefusal(second, "ERR_FILTER_RESPONSE", "404");
  },

  "a store remembers that a key has no filter, until it is deleted": async () => {
    let loads = 0;
    const load = () => {
      loads += 1;
      return new Response("none", { status: loads % 2 === 1 ? 404 : 410 });
    };
    const store = new PathFilterStore({
      maxBytes: 1000,
      load,
      missingFor: Number.POSITIVE_INFINITY,
    });
    const ask = async () => {
      const asked = [store.canExist("a", "/"), store.canExist("a", "/b")];
      for (const answer of asked) {
        isRefusal(await rejectionOf(answer as Promise<boolean>), "ERR_FILTER_RESPONSE");
      }
    };
    for (let round = 0; round < 3; round += 1) await ask();
    equal([loads, store.size, store.bytes], [1, 0, 0]);
    store.delete("b");
    await ask();
    equal(loads, 1);
    store.delete("a");
    await ask();
    store.clear();
    await ask();
    equal(loads, 3);
  },

  "a store remembers neither other failures nor, if missingFor is 0, missing filters": async () => {
    const failures = [
      () => new Response("", { status: 403 }),
      () => new Response("", { status: 500 }),
      () => new Response("not a filter"),
      () => Promise.reject(new RangeError("no storage")),
    ];
    let loads = 0;
    for (const fail of failures) {
      const load = () => {
        loads += 1;
        return fail();
      };
      const store = new PathFilterStore({ maxBytes: 1000, load });
      for (let round = 0; round < 2; round += 1) {
        await rejectionOf(Promise.resolve(store.canExist("a", "/")));
      }
    }
    equal(loads, 2 * failures.length);
    const load = () => {
      loads += 1;
      return new Response("", { status: 404 });
    };
    const store = new PathFilterStore({ maxBytes: 1000, load, missingFor: 0 });
    for (let round = 0; round < 2; round += 1) {
      await rejectionOf(Promise.resolve(store.canExist("a", "/")));
    }
    equal(loads, 2 * failures.length + 2);
  },

  "a store reloads a deleted filter, even if it was deleted while loading": async () => {
    const { store, loaded } = storeOf(1000);
    await store.canExist("a", "a");
    store.delete("a");
    store.delete("b");
    equal([loaded[0]!.isFreed, store.bytes], [true, 0]);
    const first = store.canExist("a", "a");
    store.delete("a");
    const second = store.canExist("a", "a");
    equal(await Promise.all([first, second]), [true, true]);
    equal(
      loaded.map((fake) => fake.isFreed),
      [true, true, false],
    );
    store.clear();
    equal([store.bytes, store.size], [0, 0]);
    equal(
      loaded.map(({ frees }) => frees),
      [1, 1, 1],
    );
  },

  "a store propagates the errors of a query, and keeps working": async () => {
    const { store, loaded } = storeOf(50);
    const fail = () => {
      throw new RangeError("the asker's own");
    };
    const error = await rejectionOf(Promise.resolve(store.use("a", fail)));
    equal((error as Error).message, "the asker's own");
    equal(loaded[0]!.isFreed, true);
  },

  "a load that exceeds the timeout rejects, and the next query loads again": async () => {
    const fakes: Fake[] = [];
    let finish = (_: Fake) => {};
    const load = (key: string) => {
      const fake = new Fake(key);
      fakes.push(fake);
      if (fakes.length > 1) return fake;
      return new Promise<Fake>((resolve) => {
        finish = resolve;
      });
    };
    const store = new PathFilterStore({ maxBytes: 1000, load, timeout: 10 });
    const asked = [store.canExist("a", "a"), store.canExist("a", "a")];
    for (const answer of asked) {
      isRefusal(
        await rejectionOf(Promise.resolve(answer)),
        "ERR_FILTER_TIMEOUT",
        'paths of "a" were not loaded',
      );
    }
    equal([store.size, await store.canExist("a", "a")], [0, true]);
    finish(fakes[0]!);
    await Promise.resolve();
    await Promise.resolve();
    equal(await store.canExist("a", "a"), true);
    equal([fakes.map((fake) => fake.isFreed), store.bytes], [[true, false], 100]);
  },

  "a load for which nothing waits any more is aborted, and its response cancelled": async () => {
    const line = '{"version":"","bloom":{"n":1,"p":0.5,"m":4294967295,"k":1,"s":0}}\n"';
    const signals: AbortSignal[] = [];
    let cancels = 0;
    const load = (_key: string, signal: AbortSignal) => {
      signals.push(signal);
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode(line)),
        cancel() {
          cancels += 1;
        },
      });
      return new Response(body);
    };
    const store = new PathFilterStore({ maxBytes: 1e9, load, timeout: 20 });
    const asked = [store.canExist("a", "a"), store.canExist("a", "b"), store.canExist("b", "a")];
    equal(
      signals.map(({ aborted }) => aborted),
      [false, false],
    );
    for (const answer of asked) {
      isRefusal(await rejectionOf(Promise.resolve(answer)), "ERR_FILTER_TIMEOUT");
    }
    // The end of the reading, whose promise nobody has.
    await new Promise((resolve) => setTimeout(resolve, 20));
    equal([signals.map(({ aborted }) => aborted), cancels, store.size], [[true, true], 2, 0]);
  },

  "a load continues while a query waits for it, even if the filter was deleted": async () => {
    let aborted: AbortSignal | undefined;
    const load = async (key: string, signal: AbortSignal) => {
      aborted = signal;
      await new Promise((resolve) => setTimeout(resolve, 5));
      return new Fake(key);
    };
    const store = new PathFilterStore({ maxBytes: 1000, load });
    const answer = store.canExist("a", "a");
    store.delete("a");
    equal([await answer, aborted?.aborted, store.size], [true, false, 0]);
  },

  "a store has at most 65,536 lookups, even if they have no size": async () => {
    const { store, keptOf } = storeOf(0, () => 0);
    const most = 2 ** 16;
    for (let key = 0; key <= most; key += 1) await store.canExist(`${key}`, "a");
    equal([store.size, store.bytes, keptOf().length, keptOf()[0]], [most, 0, most, "1"]);
  },

  "a filter larger than the limit evicts no others": async () => {
    const { store, keptOf } = storeOf(300, (key) => (key === "large" ? 301 : 100));
    for (const key of ["a", "b", "c", "large", "large"]) await store.canExist(key, key);
    equal([keptOf(), store.bytes, store.size], [["a", "b", "c"], 300, 3]);
  },

  "a store rejects a load result that is not a lookup, and loads again": async () => {
    const loads: unknown[] = [undefined, null, {}, { has: () => true }, new Fake("a")];
    const load = () => loads.shift() as PathLookup;
    const store = new PathFilterStore({ maxBytes: 1000, load });
    while (loads.length > 1) {
      const error = await rejectionOf(Promise.resolve(store.canExist("a", "a")));
      isRefusal(error, "ERR_ARGUMENT", "load: expected a filter");
    }
    equal([await store.canExist("a", "a"), store.bytes, store.size], [true, 100, 1]);
  },

  "a lookup whose free() throws does not affect other queries": async () => {
    const load = (key: string) => {
      const fake = new Fake(key);
      fake.free = () => {
        throw new RangeError("the lookup's own");
      };
      return fake;
    };
    const store = new PathFilterStore({ maxBytes: 100, load });
    for (const key of ["a", "b", "c"]) equal(await store.canExist(key, key), true);
    store.clear();
    equal([store.bytes, store.size], [0, 0]);
  },

  "a filter deleted during a query is freed after it": async () => {
    const { store, loaded } = storeOf(1000);
    const ask = (lookup: PathLookup) => {
      store.delete("a");
      return lookup.has("a");
    };
    equal(await store.use("a", ask), true);
    await store.canExist("a", "a");
    equal(store.use("a", ask), true);
    equal(
      loaded.map(({ frees }) => frees),
      [1, 1],
    );
  },

  "an infinite timeout never rejects": async () => {
    for (const timeout of [2 ** 31, Number.POSITIVE_INFINITY]) {
      const load = () =>
        new Promise<PathLookup>((resolve) => {
          setTimeout(() => resolve(new Fake("a")), 20);
        });
      const store = new PathFilterStore({ maxBytes: 1000, load, timeout });
      equal(await store.canExist("a", "a"), true);
    }
  },

  "a store refuses a limit or a timeout that is not a number": () => {
    for (const value of [-1, Number.NaN, "1e6", null] as number[]) {
      const load = () => new PathSet([]);
      const bound = { maxBytes: value, load };
      refused(() => new PathFilterStore(bound), "ERR_ARGUMENT", "maxBytes");
      const missing = { maxBytes: 1, load, missingFor: value };
      refused(() => new PathFilterStore(missing as never), "ERR_ARGUMENT", "missingFor");
      const time = { maxBytes: 1, load, timeout: value };
      refused(() => new PathFilterStore(time), "ERR_ARGUMENT", "timeout");
    }
  },
};
