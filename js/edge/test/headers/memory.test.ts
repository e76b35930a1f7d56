import { HeaderStripper } from "hedgerow";
import { stripBlock } from "hedgerow/block";
import { expect, test, vi } from "vitest";
import { bytesOf, textOf } from "../../../../tests/support/text.js";
import { blockModule } from "../support/bundle.js";
import { memorySize } from "../support/wasm.js";

const RULES = ["x-internal-*", "x-debug", "connection"];

/** Asserts that all methods of a stripper of {@link RULES} work. */
function assertWorks(stripper: HeaderStripper): void {
  const names = ["X-Debug", "x-internal-new", "x-debugs", "accept"];
  expect(names.filter((name) => stripper.matches(name))).toEqual(["X-Debug", "x-internal-new"]);
  const headers = new Headers({ connection: "x-hop", "x-hop": "1", "x-debug": "2", accept: "3" });
  expect(stripper.strip(headers)).toBe(3);
  expect([...headers.keys()]).toEqual(["accept"]);
  expect(stripper.stripRaw(["X-Debug", "1", "Accept", "2"])).toEqual(["Accept", "2"]);
  expect(textOf(stripBlock(stripper, bytesOf("x-debug: 1\r\nb: 2\r\n")))).toBe("b: 2\r\n");
}

/** Runs `grow` and asserts that the memory has grown, which detaches all views. */
function assertGrows(grow: () => void): void {
  const before = memorySize();
  grow();
  expect(memorySize()).toBeGreaterThan(before);
}

test("strippers keep working after memory grows for a large block of any of them", () => {
  using stripper = new HeaderStripper(RULES);
  using other = new HeaderStripper(RULES);
  assertWorks(stripper);
  assertWorks(other);
  for (const megabytes of [2, 6, 12]) {
    const line = `x-debug: ${"1".repeat(1013)}\r\n`;
    const block = bytesOf(`${line.repeat(megabytes * 1024)}b: 2\r\n`);
    assertGrows(() => expect(textOf(stripBlock(stripper, block))).toBe("b: 2\r\n"));
    assertWorks(stripper);
    assertWorks(other);
  }
});

test("strippers keep working after a large block is refused", () => {
  using stripper = new HeaderStripper(RULES);
  const block = new Uint8Array(1 << 24).fill(0x61);
  expect(() => stripBlock(stripper, block)).toThrow("expected CR LF at the end");
  expect(block.every((byte) => byte === 0x61)).toBe(true);
  assertWorks(stripper);
});

test("stripBlock refuses a block that does not fit into memory, and strips the next one", () => {
  using stripper = new HeaderStripper(RULES);
  assertWorks(stripper);
  const { exports } = blockModule;
  const blockstripper_reserve = (pointer: number) => {
    // As when memory runs out: the previous buffer is released, and there is no new one.
    exports.blockstripper_reserve(pointer, 0);
    return 0;
  };
  const full = { ...exports, blockstripper_reserve };
  const block = bytesOf(`x-debug: ${"1".repeat(1000)}\r\nb: 2\r\n`);
  const spy = vi.spyOn(blockModule, "exports", "get").mockReturnValue(full);
  expect(() => stripBlock(stripper, block)).toThrow("field block: not enough memory for ");
  spy.mockRestore();
  expect(textOf(stripBlock(stripper, bytesOf("x-debug: 1\r\nb: 2\r\n")))).toBe("b: 2\r\n");
  expect(textOf(stripBlock(stripper, block))).toBe("b: 2\r\n");
  assertWorks(stripper);
});

test("strippers keep working after memory grows for those of other strippers", () => {
  using stripper = new HeaderStripper(RULES);
  assertWorks(stripper);
  const others: HeaderStripper[] = [];
  const nameOf = (stripper: number, rule: number) => `x-${stripper}-${rule}-${"a".repeat(200)}`;
  assertGrows(() => {
    const before = memorySize();
    while (memorySize() === before) {
      const rules = Array.from({ length: 100 }, (_, number) => nameOf(others.length, number));
      const other = new HeaderStripper(rules);
      stripBlock(other, bytesOf("b: 2\r\n"));
      others.push(other);
    }
  });
  assertWorks(stripper);
  expect(others.every((other, number) => other.matches(nameOf(number, 99)))).toBe(true);
  expect(others.some((other, number) => other.matches(nameOf(number + 1, 0)))).toBe(false);
  for (const other of others) other.free();
  assertWorks(stripper);
});

test("a stripper that is not used for blocks takes no memory of WebAssembly", () => {
  const many = Array.from({ length: 5_000 }, (_, number) => `x-${number}`);
  new HeaderStripper(many).free();
  const before = memorySize();
  const strippers = Array.from({ length: 50 }, () => new HeaderStripper(many));
  expect(strippers.every((stripper) => stripper.matches("X-4999"))).toBe(true);
  expect(memorySize()).toBe(before);
});
