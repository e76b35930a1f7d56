import { expect, test } from "vitest";
import fc from "../../../../tests/support/fast-check.js";
import { EventQueue } from "../../src/simulation/event-queue.js";

test("returns numbers in the order of their times, and those of a time in the order of their arrival", () => {
  // Times below 0 take one number instead.
  const steps = fc.array(fc.integer({ min: -3, max: 9 }), { maxLength: 3_000 });
  fc.assert(
    fc.property(steps, (times) => {
      const queue = new EventQueue();
      let expected: { time: number; value: number }[] = [];
      const take = () => {
        const [first, ...rest] = [...expected].sort((one, other) => one.time - other.time);
        expect(queue.time).toBe(first?.time ?? Infinity);
        if (first === undefined) return;
        expect(queue.take()).toBe(first.value);
        expected = rest;
      };
      for (const [value, time] of times.entries()) {
        if (time < 0) take();
        else {
          queue.add(time, value);
          expected.push({ time, value });
        }
      }
      while (expected.length > 0) take();
      expect(queue.time).toBe(Infinity);
    }),
    { numRuns: 20, seed: 1 },
  );
});
