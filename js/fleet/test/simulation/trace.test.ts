import { expect, test } from "vitest";
import { readTrace, simulate } from "../../src/simulation.js";

const START = { time: 0, identity: "a", bytes: 5, duration: 1 };

const read = (starts: readonly unknown[]) =>
  readTrace(
    starts.map((start) => (typeof start === "string" ? start : JSON.stringify(start))),
    { name: "trace", hosts: 2 },
  );

test("reads starts, and gives an image the same index each time", async () => {
  const workload = await read([
    START,
    { ...START, time: 2.5, identity: "b", bytes: 7 },
    { ...START, time: 2.5, duration: 0, more: true },
  ]);
  expect(workload).toMatchObject({
    images: [
      { identity: "a", bytes: 5 },
      { identity: "b", bytes: 7 },
    ],
    times: Float64Array.of(0, 2.5, 2.5),
    starts: Uint32Array.of(0, 1, 0),
    durations: Float64Array.of(1, 1, 0),
  });
  expect(simulate(workload, "hedgerow").starts).toBe(3);
});

test.for([
  ["{", "line: expected a JSON object, found {"],
  ["[]", "line: expected a JSON object, found []"],
  [{ ...START, time: -1 }, "time: expected a number from 0 to 1000000000000, found -1"],
  [{ ...START, time: "0" }, 'time: expected a number from 0 to 1000000000000, found "0"'],
  [{ ...START, time: 1e12 + 1 }, "found 1000000000001"],
  [{ ...START, identity: "" }, 'identity: expected a text of 1 to 256 characters, found ""'],
  [{ ...START, identity: "x".repeat(257) }, "identity: expected a text of 1 to 256 characters"],
  [{ ...START, identity: 1 }, "identity: expected a text of 1 to 256 characters, found 1"],
  [{ ...START, bytes: 0 }, "bytes: expected a number from 1 to 1125899906842624, found 0"],
  [{ ...START, bytes: 2 ** 50 + 1 }, "bytes: expected"],
  [{ ...START, duration: undefined }, "duration: expected a number from 0 to"],
  [{ ...START, duration: -1 }, "duration: expected a number from 0 to"],
] as const)("refuses the start %j", async ([start, message]) => {
  const expected = { name: "FleetError", code: "ERR_TRACE" };
  await expect(read([start])).rejects.toMatchObject({
    ...expected,
    message: expect.stringContaining(message),
  });
  await expect(read([START, start])).rejects.toThrow("trace: start 2: ");
});

test("accepts the largest values", async () => {
  const identity = "x".repeat(256);
  const start = { time: 1e12, identity, bytes: 2 ** 50, duration: 1e12 };
  expect((await read([start])).images).toEqual([{ identity, bytes: 2 ** 50 }]);
});

test("refuses times that decrease, images that change their size, and a trace without starts", async () => {
  await expect(
    read([
      { ...START, time: 2 },
      { ...START, time: 1 },
    ]),
  ).rejects.toThrow("start 2: time: expected a number from 2 to 1000000000000, found 1");
  await expect(read([START, { ...START, bytes: 6 }])).rejects.toThrow(
    "start 2: bytes: expected 5, as in earlier starts of the image, found 6",
  );
  await expect(read([])).rejects.toThrow("trace: expected a start, found none");
});

test.for([0, 10_001, Number.NaN])("refuses %s hosts", async (hosts) => {
  await expect(readTrace([], { name: "trace", hosts })).rejects.toMatchObject({
    code: "ERR_ARGUMENT",
  });
});
