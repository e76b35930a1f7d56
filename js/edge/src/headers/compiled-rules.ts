import { RuleSet } from "../../wasm/edge.js";
import { HedgerowError, type HedgerowErrorCode } from "../error.js";
import { MemoryView, make, memory } from "../module.js";
import { Probe } from "./probe.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The longest block and the longest `Connection` value: far beyond what any HTTP server takes. */
const MAX_BLOCK_LENGTH = 2 ** 24;
/** The memory of a longer block is given back after use. */
const KEPT_BLOCK_LENGTH = 2 ** 16;
/** What stands for a number that there is not. */
const NONE = 0xffffffff;
/** A name that `RuleSet.nominated` writes, and what stands behind one that no sender may nominate. */
const NOMINATED = /([^,:]+)([,:])/g;
const FORBIDDEN = ":";

/** What `RuleSet.numbers` holds. */
type Numbers = [
  scratch: number,
  scratchLength: number,
  table: number,
  tableLength: number,
  shortestPrefix: number,
  stripsConnection: number,
  message: number,
  messageLength: number,
  byte: number,
  offset: number,
];

/** Rules, compiled by the WebAssembly module, and the buffers through which names and blocks go. */
export class CompiledRules {
  readonly #set = make(RuleSet);
  readonly #scratch: MemoryView;
  #block = new MemoryView(0, 0);
  #isFreed = false;
  /** What decides misses, and the table that it reads. */
  readonly probe: Probe;
  readonly table: MemoryView;
  /** Whether `Connection` is stripped, and with it what it nominates. */
  readonly stripsConnection: boolean;

  /** @throws {HedgerowError} as the constructor of `HeaderStripper` does */
  constructor(rules: Iterable<string>) {
    const [scratch, scratchLength] = this.#numbers();
    this.#scratch = new MemoryView(scratch, scratchLength);
    try {
      this.#add(rules);
    } catch (error) {
      this.free();
      throw error;
    }
    this.#set.compile();
    const [, , table, tableLength, shortestPrefix, stripsConnection] = this.#numbers();
    this.table = new MemoryView(table, tableLength);
    this.probe = new Probe(tableLength, shortestPrefix);
    this.stripsConnection = stripsConnection === 1;
  }

  #add(rules: Iterable<string>): void {
    let number = 0;
    for (const rule of rules) {
      if (typeof rule !== "string") {
        const found = `rule ${number}: expected a string, found ${typeof rule}`;
        throw new HedgerowError("ERR_ARGUMENT", found);
      }
      if (!this.#set.add(this.write(rule).length)) {
        const context = `rule ${number} (${JSON.stringify(rule.slice(0, 300))})`;
        throw this.#fault("ERR_HEADER_RULE", context);
      }
      number += 1;
    }
  }

  /**
   * Writes `text` where the module reads names. Returns the bytes, of a text that is longer than
   * any rule only so many that they equal none.
   */
  write(text: string): Uint8Array {
    this.live();
    const scratch = this.#scratch.bytes;
    const { read, written } = encoder.encodeInto(text, scratch);
    if (read === text.length) return scratch.subarray(0, written);
    return scratch.fill(0, written);
  }

  /** Whether a rule matches the name of `length` bytes that was written last. */
  matches(length: number): boolean {
    return this.#set.matches(length);
  }

  /**
   * The fields that a `Connection` value nominates beside those that a rule matches, in lower case, and
   * whether the message is refused if it has them: no sender may nominate them.
   */
  nominated(value: string): Map<string, boolean> {
    this.live();
    const length = this.#writeBlock(encoder.encode(`${value},`), "ERR_ARGUMENT", "Connection");
    const left = this.#set.nominated(length);
    const names = decoder.decode(this.#block.bytes.subarray(0, Math.max(left, 0)));
    this.#release(length);
    if (left < 0) throw outOfMemory("ERR_ARGUMENT", "Connection", length);
    const found = names.toLowerCase().matchAll(NOMINATED);
    return new Map(Array.from(found, ([, name, end]) => [name!, end === FORBIDDEN]));
  }

  /** Strips a field block in place, and returns a view of what is left of it. */
  stripBlock(block: Uint8Array): Uint8Array {
    const length = this.#writeBlock(block, "ERR_FIELD_BLOCK", "field block");
    const left = this.#set.strip_block(length);
    if (left >= 0 && left < length) block.set(this.#block.bytes.subarray(0, left));
    this.#release(length);
    if (left < 0) throw this.#fault("ERR_FIELD_BLOCK", "field block");
    return left === length ? block : block.subarray(0, left);
  }

  /** Gives the module's memory back. */
  free(): void {
    if (this.#isFreed) return;
    this.#isFreed = true;
    this.#set.free();
  }

  /**
   * These rules, to be read from now on until other code runs.
   *
   * @throws {HedgerowError} `ERR_FREED` after `free()`
   */
  live(): this {
    if (this.#isFreed) {
      throw new HedgerowError("ERR_FREED", "HeaderStripper was used after free()");
    }
    return this;
  }

  /** Writes `block` where the module reads blocks, and returns its length. */
  #writeBlock(block: Uint8Array, code: HedgerowErrorCode, context: string): number {
    const { length } = block;
    if (length > MAX_BLOCK_LENGTH) {
      const message = `expected at most 16 MiB, found ${length} bytes`;
      throw new HedgerowError(code, `${context}: ${message}`);
    }
    if (length > this.#block.length) {
      const start = this.#set.reserve(length);
      // Where there is no memory for it, what there was before is gone as well.
      this.#block = new MemoryView(start, start === 0 ? 0 : length);
      if (start === 0) throw outOfMemory(code, context, length);
    }
    this.#block.bytes.set(block);
    return length;
  }

  /** Gives the memory of a large block back. */
  #release(length: number): void {
    if (length <= KEPT_BLOCK_LENGTH) return;
    this.#set.reserve(0);
    this.#block = new MemoryView(0, 0);
  }

  /** Why the module refused what it was given last. */
  #fault(code: HedgerowErrorCode, context: string): HedgerowError {
    const [, , , , , , message, length, byte, offset] = this.#numbers();
    const text = decoder.decode(memory().subarray(message, message + length));
    const found = byte === NONE ? "" : ` 0x${byte.toString(16).padStart(2, "0")}`;
    const where = offset === NONE ? "" : ` at byte ${offset}`;
    return new HedgerowError(code, `${context}: ${text}${found}${where}`);
  }

  #numbers(): Numbers {
    const start = this.#set.numbers();
    return [...new Uint32Array(memory().buffer, start, 10)] as Numbers;
  }
}

function outOfMemory(code: HedgerowErrorCode, context: string, length: number): HedgerowError {
  return new HedgerowError(code, `${context}: not enough memory for ${length} bytes`);
}
