/** Where sandboxes start: properties on random fleets, and a naive implementation of the same rules. */
import { FleetError, type Host, Hosts, type PlacementOptions, placement } from "@hedgerow/fleet";
import { expect, test } from "vitest";
import fc from "../../../../tests/support/fast-check.js";
import { trials } from "../../../../tests/support/trials.js";
import { distanceOf, hashText, uniform } from "../../src/placement/rendezvous.js";

const SEED = 0x23;
const FLEETS = { seed: SEED, numRuns: trials({ few: 2_000, all: 50_000 }) };

const id = fc.integer({ min: 0, max: 40 }).map((number) => `host-${number}`);

const host: fc.Arbitrary<Host> = fc.record({
  id,
  load: fc.oneof(
    fc.constant(0),
    fc.integer({ min: 0, max: 20 }),
    fc.double({ min: 0, max: 1e6, noNaN: true }),
  ),
  capacity: fc.oneof(fc.constantFrom(1, 2, 0.5), fc.double({ min: 1e-3, max: 1e3, noNaN: true })),
  available: fc.oneof({ weight: 4, arbitrary: fc.constant(true) }, fc.boolean()),
});

const fleet = fc.uniqueArray(host, { minLength: 1, maxLength: 24, selector: (one) => one.id });

const options: fc.Arbitrary<PlacementOptions> = fc.record({
  residents: fc.array(id, { maxLength: 8 }).map((ids) => new Set(ids)),
  bound: fc.constantFrom(1, 1.25, 2),
  load: fc.constantFrom(0, 1, 3.5),
  share: fc.constantFrom(0, 0.05, 0.4, 1),
});

const identity = fc.string({ minLength: 1, maxLength: 64 });

const isAvailable = (one: Host) => one.available !== false;

const capacityOf = ({ capacity = 1 }: Host) => capacity;

/** Returns a sum over the hosts that are available. */
const sum = (hosts: readonly Host[], of: (host: Host) => number) =>
  hosts.filter(isAvailable).reduce((total, host) => total + of(host), 0);

/** Returns whether a host is within the bound, by the rule of the documents. */
function isWithin(hosts: readonly Host[], one: Host, { bound = 1.25, load = 1 }: PlacementOptions) {
  const [loads, capacity] = [sum(hosts, (each) => each.load ?? 0), sum(hosts, capacityOf)];
  const mean = (loads + load) / capacity;
  const limit = Math.max(
    bound * mean * capacityOf(one),
    (loads / capacity) * capacityOf(one) + load,
  );
  // Rounding aside.
  return (one.load ?? 0) + load <= limit * (1 + 1e-9) + 1e-9;
}

/** Chooses a host by sorting all of them, for each step of the rules again. */
function naive(name: string, hosts: readonly Host[], how: PlacementOptions): string {
  const { residents = new Set(), load = 1, share = 0 } = how;
  const distance = (one: Host) =>
    distanceOf(uniform(hashText(name), hashText(one.id)), capacityOf(one));
  const relative = (one: Host) => ((one.load ?? 0) + load) / capacityOf(one);
  const byDistance = (a: Host, b: Host) => distance(a) - distance(b) || (a.id < b.id ? -1 : 1);
  const byLoad = (a: Host, b: Host) => relative(a) - relative(b) || byDistance(a, b);
  const near = hosts.filter(isAvailable).sort(byDistance);
  const radius = (2 * share * near.length) / sum(hosts, capacityOf);
  const preferred = near.filter((one, rank) => rank < 2 || distance(one) < radius);
  const within = (some: Host[]) => some.filter((one) => isWithin(hosts, one, how));
  const having = (some: Host[]) => some.filter((one) => residents.has(one.id));
  const steps = [
    having(within(preferred)).sort(byLoad),
    having(within(near)).sort(byLoad),
    within(preferred).sort(byLoad),
    within(near),
  ];
  return steps.find(([first]) => first !== undefined)?.[0]?.id ?? "none";
}

test("chooses as the naive implementation does, and the same again in any order of the hosts", () => {
  const property = fc.property(identity, fleet, options, (name, hosts, how) => {
    if (!hosts.some(isAvailable)) return;
    const expected = naive(name, hosts, how);
    expect(placement(name, hosts, how).host).toBe(expected);
    expect(placement(name, [...hosts].reverse(), how).host).toBe(expected);
  });
  fc.assert(property, FLEETS);
});

test("holds the bound, on available hosts only, and says why and with which load", () => {
  const property = fc.property(identity, fleet, options, (name, hosts, how) => {
    if (!hosts.some(isAvailable)) return;
    const { host: chosen, reason, candidates } = placement(name, hosts, how);
    const found = hosts.find((one) => one.id === chosen)!;
    expect(isAvailable(found)).toBe(true);
    expect(isWithin(hosts, found, how)).toBe(true);
    expect(reason === "resident").toBe(how.residents!.has(chosen));
    const entry = candidates.find((one) => one.host === chosen)!;
    expect(entry).toMatchObject({ isWithinBound: true, isResident: reason === "resident" });
    const distances = candidates.map(({ distance }) => distance);
    expect(distances).toEqual([...distances].sort((a, b) => a - b));
  });
  fc.assert(property, FLEETS);
});

test("holds the bound at each of a million placements, and starves no host", () => {
  const placements = trials({ few: 50_000, all: 1_000_000 });
  const capacities = Array.from({ length: 50 }, (_, index) => 1 + (index % 3));
  const hosts = new Hosts(capacities.map((capacity, index) => ({ id: `host-${index}`, capacity })));
  const total = capacities.reduce((one, other) => one + other);
  const running: string[] = [];
  const starts = new Map<string, number>();
  for (let number = 0; number < placements; number += 1) {
    // A few images have most of the starts.
    const image = `image-${Math.floor(400 * (hashText(`${number}`) / 2 ** 32) ** 4)}`;
    const before = running.length / total;
    const { host } = placement(image, hosts);
    hosts.addLoad(host, 1);
    running.push(host);
    starts.set(host, (starts.get(host) ?? 0) + 1);
    const { load, capacity } = hosts.get(host)!;
    const mean = running.length / total;
    if (load > Math.max(1.25 * mean * capacity, before * capacity + 1) + 1e-9) {
      throw new Error(
        `${number}: ${host} of capacity ${capacity} has ${load}, the mean is ${mean}`,
      );
    }
    if (running.length > 500) hosts.addLoad(running.splice(hashText(image) % 500, 1)[0]!, -1);
  }
  expect(starts.size).toBe(50);
  // No host gets less than half of its part.
  const least = capacities.map((capacity, index) => starts.get(`host-${index}`)! / capacity);
  expect(Math.min(...least)).toBeGreaterThan(placements / total / 2);
});

test("moves images only to a host that joins, and only those of a host that leaves", () => {
  const some = fc.uniqueArray(id, { minLength: 2, maxLength: 30 });
  const property = fc.property(some, fc.array(identity, { minLength: 20 }), (ids, names) => {
    const [joining = "", ...others] = ids;
    const before = others.map((id) => ({ id }));
    const after = [...before, { id: joining }];
    const moved = names.filter((name) => {
      const { host } = placement(name, after);
      return host !== joining && host !== placement(name, before).host;
    });
    expect(moved).toEqual([]);
  });
  fc.assert(property, { seed: SEED, numRuns: trials({ few: 200, all: 1_000 }) });
});

test("gives each host images in proportion to its capacity", () => {
  const hosts = new Hosts([1, 2, 4, 8].map((capacity) => ({ id: `${capacity}`, capacity })));
  const counts = new Map<string, number>();
  const images = 30_000;
  for (let number = 0; number < images; number += 1) {
    const { candidates } = placement(`image-${number}`, hosts);
    const nearest = candidates[0]!.host;
    counts.set(nearest, (counts.get(nearest) ?? 0) + 1);
  }
  for (const capacity of [1, 2, 4, 8]) {
    expect(counts.get(`${capacity}`)! / images).toBeCloseTo(capacity / 15, 1.7);
  }
});

test("spreads an image over more hosts as its share grows, and never over fewer", () => {
  const ids = Array.from({ length: 100 }, (_, index) => `host-${index}`);
  const placesAt = (share: number) => {
    const hosts = new Hosts(ids.map((id) => ({ id })));
    const places = new Set<string>();
    // Without a bound that binds, only preferred hosts are chosen.
    for (let number = 0; number < 400; number += 1) {
      const { host } = placement("hot", hosts, { share, bound: 1_000 });
      hosts.addLoad(host, 1);
      places.add(host);
    }
    return places;
  };
  const [cold, warm, hot] = [placesAt(0), placesAt(0.1), placesAt(0.6)];
  expect(cold.size).toBe(2);
  expect(warm.size).toBeGreaterThan(10);
  expect(hot.size).toBeGreaterThan(2 * warm.size);
  expect([...cold].every((host) => warm.has(host))).toBe(true);
  expect([...warm].every((host) => hot.has(host))).toBe(true);
});

test("refuses to place where no host is available", () => {
  const codeOf = (hosts: Host[]) => {
    try {
      return placement("image", hosts).host;
    } catch (error) {
      return error instanceof FleetError ? [error.code, error.message] : error;
    }
  };
  expect(codeOf([])).toEqual(["ERR_NO_HOST", "the fleet has no hosts"]);
  const draining = [{ id: "a", available: false }];
  expect(codeOf(draining)).toEqual(["ERR_NO_HOST", "none of the 1 hosts is available"]);
  expect(codeOf([...draining, { id: "b" }])).toBe("b");
});

/** Returns the number of starts of an image on each host. `lie` is what the placer believes of the host "liar". */
function startsAmongLiars(residents: string[], lie: Partial<Host> = {}): Map<string, number> {
  const honest = Array.from({ length: 50 }, (_, number) => ({ id: `${number}`, load: 20 }));
  const hosts = new Hosts([...honest, { id: "liar", load: 20, ...lie }]);
  const starts = new Map<string, number>();
  for (let start = 0; start < 1_000; start += 1) {
    const { host } = placement("image", hosts, { residents: new Set(residents) });
    hosts.addLoad(host, 1);
    starts.set(host, (starts.get(host) ?? 0) + 1);
  }
  return starts;
}

test("a host that claims all images gets no more than the bound, if loads are the placer's own", () => {
  const mean = 20 + 1_000 / 51;
  for (const [host, count] of startsAmongLiars(["liar"])) {
    expect(20 + count, host).toBeLessThanOrEqual(1.25 * mean + 1);
  }
});

test("a host whose false load a placer believes lifts the bound of another host", () => {
  expect([...startsAmongLiars(["3"], { load: 1e12 })]).toEqual([["3", 1_000]]);
});

test("a host whose false capacity a placer believes gets all starts", () => {
  expect([...startsAmongLiars(["3"], { capacity: 1e12 })]).toEqual([["liar", 1_000]]);
});
