/** How long and how much a store remembers of keys without a filter. Needs a clock that tests control. */
import { buildPathFilter, PathFilterStore } from "hedgerow";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

beforeEach(() => {
  vi.useFakeTimers();
});

afterEach(() => {
  vi.useRealTimers();
});

const rejected = (asked: boolean | Promise<boolean>) =>
  Promise.resolve(asked).then(
    () => false,
    ({ code }) => code === "ERR_FILTER_RESPONSE",
  );

/** Returns a store whose keys have no filter, except those in `found`, and the keys that were loaded. */
function storeOf(missingFor?: number, found = new Set<string>()) {
  const loaded: string[] = [];
  const load = (key: string) => {
    loaded.push(key);
    if (!found.has(key)) return new Response("none", { status: 404 });
    return new Response(buildPathFilter(["/a"]));
  };
  const options = { maxBytes: 1e6, load };
  const given = missingFor === undefined ? options : { ...options, missingFor };
  return { store: new PathFilterStore(given), loaded, found };
}

test.each([
  [undefined, 60_000],
  [1000, 1000],
])(
  "a store asks again for a missing filter after missingFor (%s)",
  async (missingFor, milliseconds) => {
    const { store, loaded, found } = storeOf(missingFor);
    expect(await rejected(store.canExist("k", "/a"))).toBe(true);
    found.add("k");
    vi.advanceTimersByTime(milliseconds - 1);
    expect(await rejected(store.canExist("k", "/a"))).toBe(true);
    expect(loaded).toEqual(["k"]);
    vi.advanceTimersByTime(1);
    expect(await store.canExist("k", "/a")).toBe(true);
    expect(loaded).toEqual(["k", "k"]);
  },
);

test("a store remembers the latest 10,000 keys without a filter", async () => {
  const { store, loaded } = storeOf();
  const keys = Array.from({ length: 10_001 }, (_, number) => `${number}`);
  for (const key of keys) await Promise.resolve(store.canExist(key, "/")).catch(() => {});
  loaded.length = 0;
  for (const key of ["1", "10000"]) await rejected(store.canExist(key, "/"));
  expect(loaded).toEqual([]);
  await rejected(store.canExist("0", "/"));
  expect(loaded).toEqual(["0"]);
  expect(store.size).toBe(0);
});

test("a store does not remember a missing filter whose key was deleted during the load", async () => {
  let answer: (response: Response) => void = () => {};
  let loads = 0;
  const load = () => {
    loads += 1;
    return new Promise<Response>((resolve) => {
      answer = resolve;
    });
  };
  const store = new PathFilterStore({ maxBytes: 1e6, load });
  for (const forget of [() => store.delete("k"), () => store.clear()]) {
    const first = rejected(store.canExist("k", "/"));
    forget();
    answer(new Response("none", { status: 404 }));
    expect(await first).toBe(true);
    const before = loads;
    const second = store.canExist("k", "/a");
    expect(loads).toBe(before + 1);
    answer(new Response(buildPathFilter(["/a"])));
    expect(await second).toBe(true);
    store.clear();
  }
});

test("a store keeps stored filters while it remembers missing ones", async () => {
  const { store, loaded } = storeOf(1000, new Set(["k"]));
  expect(await store.canExist("k", "/a")).toBe(true);
  await rejected(store.canExist("none", "/a"));
  vi.advanceTimersByTime(5000);
  expect(store.canExist("k", "/a")).toBe(true);
  expect(loaded).toEqual(["k", "none"]);
});

test("a store does not remember keys of more than 256 characters", async () => {
  const { store, loaded } = storeOf();
  const keys = ["k".repeat(256), "k".repeat(257)];
  for (const key of [...keys, ...keys]) await rejected(store.canExist(key, "/"));
  expect(loaded).toEqual([keys[0], keys[1], keys[1]]);
});
