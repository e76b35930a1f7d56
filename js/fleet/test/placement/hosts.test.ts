/** The columns of `Hosts` and the counts of `RequestShares`, beside a `Map`. */
import { type CompleteHost, Hosts, placement, RequestShares } from "@hedgerow/fleet";
import { expect, test } from "vitest";
import fc from "../../../../tests/support/fast-check.js";
import { MAX_HOSTS } from "../../src/placement/hosts.js";

const id = fc.constantFrom("a", "b", "c", "d", "e");
const change = fc.oneof(
  fc.record({
    id,
    load: fc.nat(9),
    capacity: fc.integer({ min: 1, max: 9 }),
    available: fc.boolean(),
  }),
  fc.record({ id, add: fc.integer({ min: -9, max: 9 }) }),
  fc.record({ id, delete: fc.constant(true) }),
);

test("keeps hosts as a Map does, whatever is added, changed and removed", () => {
  const property = fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
    const hosts = new Hosts();
    const expected = new Map<string, CompleteHost>();
    for (const each of changes) {
      const known = expected.get(each.id);
      if ("add" in each) {
        expect(hosts.addLoad(each.id, each.add)).toBe(known !== undefined);
        if (known === undefined) continue;
        expected.set(each.id, { ...known, load: Math.max(0, known.load + each.add) });
      } else if ("delete" in each) {
        expect(hosts.delete(each.id)).toBe(expected.delete(each.id));
      } else {
        hosts.set(each);
        expected.set(each.id, each);
      }
    }
    expect(hosts.size).toBe(expected.size);
    expect([...hosts.ids()].sort()).toEqual([...expected.keys()].sort());
    for (const [id, host] of expected) expect(hosts.get(id)).toEqual(host);
    const available = [...expected.values()].filter((host) => host.available);
    if (available.length === 0) return;
    expect(placement("image", hosts)).toEqual(placement("image", [...expected.values()]));
  });
  fc.assert(property, { seed: 0x405, numRuns: 500 });
});

test("takes as many hosts as the limit says, and no more", () => {
  const hosts = new Hosts();
  for (let number = 0; number < MAX_HOSTS; number += 1) hosts.set({ id: `${number}` });
  expect(() => hosts.set({ id: "one too many" })).toThrow(/at most 65536 hosts, found more/);
  expect(hosts.size).toBe(MAX_HOSTS);
  expect(placement("image", hosts).reason).toBe("preferred");
});

test("halves a count within each half-life", () => {
  const shares = new RequestShares({ halfLife: 1_000 });
  for (let number = 0; number < 8; number += 1) shares.add("old", 0);
  expect(shares.of("old", 0)).toBe(1);
  for (let number = 0; number < 2; number += 1) shares.add("new", 2_000);
  // Two of the eight are left.
  expect(shares.of("old", 2_000)).toBeCloseTo(0.5);
  expect(shares.of("new", 2_000)).toBeCloseTo(0.5);
  expect(shares.of("unknown", 2_000)).toBe(0);
  // Time alone changes no share.
  expect(shares.of("new", 9_000)).toBeCloseTo(0.5);
  expect(shares.of("new", 1e9)).toBeLessThanOrEqual(1);
});

test("forgets the images with the fewest recent starts when there are too many", () => {
  const shares = new RequestShares({ maxImages: 4 });
  for (const [name, times] of [
    ["a", 5],
    ["b", 1],
    ["c", 4],
    ["d", 2],
  ] as const)
    for (let number = 0; number < times; number += 1) shares.add(name, 0);
  shares.add("e", 0);
  expect(["a", "b", "c", "d", "e"].map((name) => shares.of(name, 0) > 0)).toEqual([
    ...[true, false, true, false],
    true,
  ]);
});
