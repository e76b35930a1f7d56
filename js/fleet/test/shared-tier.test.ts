import { expect, test } from "vitest";

import { type RouteOptions, SharedTier, type SharedTierOptions } from "../src/index.js";

const TIER = "http://tier.example:8080";
const STORE = "https://s3.example";

/** An error with a code and a status, as `SnapshotError` has. */
const failure = (code: string, status?: number) =>
  Object.assign(new Error(code), { code, ...(status && { status }) });

/** Reads through a tier that fails with an error. Returns the endpoints that the read had, and the outcome. */
async function readWith(error: Error, options: Partial<SharedTierOptions> = {}) {
  const route = new SharedTier({ tier: TIER, store: STORE, ...options });
  const endpoints: string[] = [];
  const read = async (endpoint: string) => {
    endpoints.push(endpoint);
    if (endpoint === TIER) throw error;
    return "bytes";
  };
  const outcome = await route.read(read).catch((thrown: unknown) => thrown);
  return { route, read, endpoints, outcome };
}

test("reads through the tier, with fewer retries than from the store", async () => {
  const route = new SharedTier({ tier: `${TIER}/`, store: new URL(STORE) });
  const calls: [string, RouteOptions][] = [];
  const read = async (...call: [string, RouteOptions]) => calls.push(call);
  expect(await route.read(read)).toBe(1);
  expect(calls).toEqual([[TIER, { retries: 2, timeouts: { connect: 1000 } }]]);
});

test.each(["ERR_SOURCE", "ERR_SOURCE_CHANGED", "ERR_SNAPSHOT_FORMAT", "ERR_SNAPSHOT_DIGEST"])(
  "reads from the store after %s through the tier, and reports the error",
  async (code) => {
    const errors: unknown[] = [];
    const error = failure(code);
    const { endpoints, outcome } = await readWith(error, { onError: (one) => errors.push(one) });
    expect([endpoints, outcome]).toEqual([[TIER, STORE], "bytes"]);
    expect(errors).toEqual([error]);
  },
);

test("reads from the store though the handler of errors throws", async () => {
  const onError = () => {
    throw new Error("a handler that fails");
  };
  const { endpoints, outcome } = await readWith(failure("ERR_SOURCE"), { onError });
  expect([endpoints, outcome]).toEqual([[TIER, STORE], "bytes"]);
});

test.each([
  ["ERR_TARGET", failure("ERR_TARGET")],
  ["ERR_CACHE_SIZE", failure("ERR_CACHE_SIZE")],
  ["an abort", new DOMException("aborted", "AbortError")],
])("throws %s at once, which the store would not help", async (_, error) => {
  const { endpoints, outcome } = await readWith(error);
  expect(endpoints).toEqual([TIER]);
  expect(outcome).toBe(error);
});

test("throws the error of the store if both fail", async () => {
  const route = new SharedTier({ tier: TIER, store: STORE });
  const read = async (endpoint: string) => {
    throw failure("ERR_SOURCE", endpoint === TIER ? 502 : 403);
  };
  await expect(route.read(read)).rejects.toMatchObject({ status: 403 });
});

test.each([
  ["does not answer", failure("ERR_SOURCE"), true],
  ["fails", failure("ERR_SOURCE", 502), true],
  ["passes a refusal on", failure("ERR_SOURCE", 403), false],
  ["has damaged bytes", failure("ERR_SNAPSHOT_FORMAT"), false],
] as const)("when the tier %s, later reads avoid it: $2", async (_, error, isAvoided) => {
  const { route, read, endpoints } = await readWith(error);
  expect(route.isAvoided).toBe(isAvoided);
  await route.read(read);
  expect(endpoints.slice(2)).toEqual(isAvoided ? [STORE] : [TIER, STORE]);
});

test("returns to the tier after the pause", async () => {
  const { route, read, endpoints } = await readWith(failure("ERR_SOURCE"), { pause: 0 });
  expect(route.isAvoided).toBe(false);
  await route.read(read);
  expect(endpoints).toEqual([TIER, STORE, TIER, STORE]);
});

test.each([
  ["tier", { tier: "tier.example" }],
  ["tier", { tier: "ftp://tier.example" }],
  ["tier", { tier: "http://user:secret@tier.example" }],
  ["store", { store: `${STORE}/bucket` }],
  ["store", { store: `${STORE}/?key=secret` }],
  ["store", { store: 1 as unknown as string }],
  ["pause", { pause: -1 }],
  ["pause", { pause: 3_600_001 }],
  ["onError", { onError: "log" as unknown as () => void }],
  ["options", { onerror: () => {} }],
])("refuses a wrong %s (%j), and does not repeat secrets", (name, options) => {
  let error: unknown;
  try {
    new SharedTier({ tier: TIER, store: STORE, ...options });
  } catch (thrown) {
    error = thrown;
  }
  expect(error).toMatchObject({ name: "FleetError", code: "ERR_ARGUMENT" });
  expect((error as Error).message).toContain(`${name}: expected`);
  expect((error as Error).message).not.toContain("secret");
});

test("accepts the longest pause", () => {
  expect(new SharedTier({ tier: TIER, store: STORE, pause: 3_600_000 }).isAvoided).toBe(false);
});
