import { expect, test } from "vitest";
import {
  makeWorkload,
  type PolicyName,
  readTrace,
  simulate,
  type Workload,
  type WorkloadName,
} from "../../src/simulation.js";

const workload = makeWorkload("zipf-0.9", { hosts: 2, starts: 10 });

const invalid = { name: "FleetError", code: "ERR_ARGUMENT" };

test.for([
  { hosts: [] },
  { hosts: [{ id: "", joins: 0, leaves: Infinity }] },
  { hosts: [{ id: "a", joins: 2, leaves: 1 }] },
  { images: [] },
  { images: [{ identity: "", bytes: 1 }] },
  { images: [{ identity: "a", bytes: workload.cacheBytes }] },
  { cacheBytes: 1 },
  { times: new Float64Array(9) },
  { times: workload.times.toReversed() },
  { starts: new Uint32Array(10).fill(1_000) },
  { durations: new Float64Array(10).fill(-1) },
  { flash: 1_000 },
] as Partial<Workload>[])("refuses a workload with other values, case %#", (change) => {
  expect(() => simulate({ ...workload, ...change }, "random")).toThrow(
    expect.objectContaining(invalid),
  );
});

test.for([
  { seed: 2 ** 32 },
  { residencyDelay: -1 },
  { fillSlots: 0 },
  { tierBytes: -1 },
  { originRate: 0 },
  { hostRate: Number.NaN },
  { slots: 1 },
])("refuses the options %j", (options) => {
  expect(() => simulate(workload, "random", options)).toThrow(expect.objectContaining(invalid));
});

test("refuses unknown names, and numbers out of range", async () => {
  const unknown = "unknown" as PolicyName & WorkloadName;
  expect(() => simulate(workload, unknown)).toThrow("policy: expected random, ");
  expect(() => makeWorkload(unknown, { hosts: 1, starts: 1 })).toThrow("workload: expected zipf-");
  const misspelt = { hosts: 1, starts: 1, name: "a", sed: 1 };
  expect(() => makeWorkload("bases", misspelt)).toThrow('options: expected known options, found "');
  await expect(readTrace([], misspelt)).rejects.toMatchObject(invalid);
  for (const [hosts, starts] of [
    [0, 1],
    [10_001, 1],
    [1, 0],
    [1, 10_000_001],
  ] as const) {
    expect(() => makeWorkload("bases", { hosts, starts })).toThrow(
      expect.objectContaining(invalid),
    );
  }
});

test("simulates one start on one host", () => {
  const one = makeWorkload("zipf-0.9", { hosts: 1, starts: 1 });
  const { hits, originFetches, startTimes } = simulate(one, "hedgerow");
  expect({ hits, originFetches }).toEqual({ hits: 0, originFetches: 1 });
  expect(startTimes.worst).toBeCloseTo(1, 6);
});

test("refuses a start at which no host is available", () => {
  const hosts = [{ id: "a", joins: 0, leaves: 1 }];
  expect(() => simulate({ ...workload, hosts }, "random")).toThrow(
    expect.objectContaining({ code: "ERR_NO_HOST" }),
  );
});
