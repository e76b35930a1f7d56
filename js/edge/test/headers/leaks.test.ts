import { HeaderStripper } from "hedgerow";
import { stripBlock } from "hedgerow/block";
import { expect, test, vi } from "vitest";
import { bytesOf } from "../../../../tests/support/text.js";
import { blockModule } from "../support/bundle.js";
import { memorySize } from "../support/wasm.js";

/**
 * Asserts that memory does not grow after the first rounds.
 *
 * A leak must exceed the memory that earlier tests have freed: this
 * file has an instance of the module to itself, and its tests go from small to large.
 */
function assertSteady(warmUp: number, rounds: number, round: (number: number) => void): void {
  for (let number = 0; number < warmUp; number += 1) round(number);
  const before = memorySize();
  for (let number = warmUp; number < rounds; number += 1) round(number);
  expect(memorySize()).toBe(before);
}

test("freed strippers do not leak memory", () => {
  assertSteady(100, 5000, (number) => {
    const rules = Array.from({ length: number % 50 }, (_, index) => `x-${number}-${index}`);
    const stripper = new HeaderStripper(["x-internal-*", "x-debug", ...rules]);
    stripper.matches("x-debug");
    stripBlock(stripper, bytesOf("x-debug: 1\r\n"));
    stripper.free();
  });
});

test("a stripBlock that fails while it compiles the rules does not leak memory", () => {
  const rules = Array.from({ length: 500 }, (_, number) => `x-${number}-${"a".repeat(200)}`);
  const { exports } = blockModule;
  const failures: [failing: object, code: string, message: string][] = [
    [{ blockstripper_reserve: () => 0 }, "ERR_FIELD_BLOCK", "not enough memory for "],
    [{ blockstripper_add: () => 0 }, "ERR_MODULE", "found one that refuses a rule"],
    [{ blockstripper_build: trap }, "ERR_FIELD_BLOCK", "not enough memory for the rules"],
  ];
  assertSteady(9, 90, (number) => {
    const [failing, code, message] = failures[number % failures.length]!;
    using stripper = new HeaderStripper(rules);
    const spy = vi.spyOn(blockModule, "exports", "get").mockReturnValue({ ...exports, ...failing });
    const strip = () => stripBlock(stripper, bytesOf("b: 2\r\n"));
    expect(strip).toThrow(expect.objectContaining({ code }));
    expect(strip).toThrow(message);
    spy.mockRestore();
    expect(strip()).toHaveLength(6);
  });
});

function trap(): never {
  throw new WebAssembly.RuntimeError("unreachable");
}

test("the memory of large blocks is released, whether stripped or refused", () => {
  const strippers = Array.from({ length: 40 }, () => new HeaderStripper(["x-debug"]));
  const block = bytesOf(`x-debug: ${"1".repeat(2 << 20)}\r\n`);
  assertSteady(2, strippers.length, (number) => {
    const stripper = strippers[number]!;
    expect(() => stripBlock(stripper, block.subarray(0, -1))).toThrow("CR LF");
    expect(stripBlock(stripper, block)).toHaveLength(0);
  });
  for (const stripper of strippers) stripper.free();
});

test("the memory of blocks beyond 64 KiB is released", () => {
  const block = bytesOf(`b: ${"a".repeat(1 << 16)}\r\n`);
  // Leaks of 64 KiB add up to twice the memory that the earlier tests need.
  const strippers = Array.from({ length: 150 }, () => new HeaderStripper(["connection"]));
  assertSteady(20, strippers.length, (number) => {
    expect(stripBlock(strippers[number]!, block)).toBe(block);
  });
  for (const stripper of strippers) stripper.free();
});
