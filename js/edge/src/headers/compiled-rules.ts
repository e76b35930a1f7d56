import { RuleSet } from "../../wasm/edge.js";
import { HedgerowError, type HedgerowErrorCode } from "../error.js";
import { create, MemoryView, memory } from "../module.js";
import { Probe } from "./probe.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Longest field block and longest `Connection` value, in bytes: far beyond what HTTP servers accept. */
const MAX_BLOCK_LENGTH = 2 ** 24;
/** Size up to which the block buffer is kept between calls, in bytes. */
const KEPT_BLOCK_LENGTH = 2 ** 16;
/** Sentinel for "no value" in {@link Numbers}. */
const NONE = 0xffffffff;
/** A name written by `RuleSet.nominated`, and the mark after it: `:` if senders must not nominate it. */
const NOMINATED = /([^,:]+)([,:])/g;
const FORBIDDEN = ":";

/** The fields of `RuleSet.numbers`. */
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

/** Rules compiled by the WebAssembly module, and the buffers that pass names and blocks to it. */
export class CompiledRules {
  readonly #set = create(RuleSet);
  readonly #scratch: MemoryView;
  #block = new MemoryView(0, 0);
  #isFreed = false;
  readonly probe: Probe;
  /** The table that {@link probe} reads. */
  readonly table: MemoryView;
  /** Whether a rule matches `Connection`, so that the fields it nominates are stripped, too. */
  readonly stripsConnection: boolean;

  /** @throws {HedgerowError} as the constructor of `HeaderStripper` */
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
    let index = 0;
    for (const rule of rules) {
      if (typeof rule !== "string") {
        const message = `rule ${index}: expected a string, found ${typeof rule}`;
        throw new HedgerowError("ERR_ARGUMENT", message);
      }
      if (!this.#set.add(this.write(rule).length)) {
        const context = `rule ${index} (${JSON.stringify(rule.slice(0, 300))})`;
        throw this.#errorOf("ERR_HEADER_RULE", context);
      }
      index += 1;
    }
  }

  /**
   * Writes `text` to the module's name buffer and returns the bytes. A text longer than any rule is cut at
   * a length that no rule matches.
   */
  write(text: string): Uint8Array {
    this.live();
    const scratch = this.#scratch.bytes;
    const { read, written } = encoder.encodeInto(text, scratch);
    if (read === text.length) return scratch.subarray(0, written);
    return scratch.fill(0, written);
  }

  /** Returns whether a rule matches the name of `length` bytes that was written last. */
  matches(length: number): boolean {
    return this.#set.matches(length);
  }

  /**
   * Returns the fields that a `Connection` value nominates and no rule matches: the name in lower case, and
   * whether a message that has the field must be rejected because senders must not nominate it.
   */
  nominated(value: string): Map<string, boolean> {
    this.live();
    const length = this.#writeBlock(encoder.encode(`${value},`), "ERR_ARGUMENT", "Connection");
    const left = this.#set.nominated(length);
    const names = decoder.decode(this.#block.bytes.subarray(0, Math.max(left, 0)));
    this.#release(length);
    if (left < 0) throw outOfMemory("ERR_ARGUMENT", "Connection", length);
    const nominations = names.toLowerCase().matchAll(NOMINATED);
    return new Map(Array.from(nominations, ([, name, mark]) => [name!, mark === FORBIDDEN]));
  }

  /** Strips a field block in place and returns a view of the result. */
  stripBlock(block: Uint8Array): Uint8Array {
    const length = this.#writeBlock(block, "ERR_FIELD_BLOCK", "field block");
    const left = this.#set.strip_block(length);
    if (left >= 0 && left < length) block.set(this.#block.bytes.subarray(0, left));
    this.#release(length);
    if (left < 0) throw this.#errorOf("ERR_FIELD_BLOCK", "field block");
    return left === length ? block : block.subarray(0, left);
  }

  /** Releases the module's memory. */
  free(): void {
    if (this.#isFreed) return;
    this.#isFreed = true;
    this.#set.free();
  }

  /**
   * Returns these rules if they can be used. Call it again after any code that may have freed them.
   *
   * @throws {HedgerowError} `ERR_FREED` after `free()`
   */
  live(): this {
    if (this.#isFreed) {
      throw new HedgerowError("ERR_FREED", "HeaderStripper was used after free()");
    }
    return this;
  }

  /** Writes `block` to the module's block buffer and returns its length. */
  #writeBlock(block: Uint8Array, code: HedgerowErrorCode, context: string): number {
    const { length } = block;
    if (length > MAX_BLOCK_LENGTH) {
      const message = `expected at most 16 MiB, found ${length} bytes`;
      throw new HedgerowError(code, `${context}: ${message}`);
    }
    if (length > this.#block.length) {
      const start = this.#set.reserve(length);
      // A failed reservation has also released the previous buffer.
      this.#block = new MemoryView(start, start === 0 ? 0 : length);
      if (start === 0) throw outOfMemory(code, context, length);
    }
    this.#block.bytes.set(block);
    return length;
  }

  /** Releases the block buffer after a large block. */
  #release(length: number): void {
    if (length <= KEPT_BLOCK_LENGTH) return;
    this.#set.reserve(0);
    this.#block = new MemoryView(0, 0);
  }

  /** Returns the error for what the module rejected last. */
  #errorOf(code: HedgerowErrorCode, context: string): HedgerowError {
    const [, , , , , , message, length, byte, offset] = this.#numbers();
    const reason = decoder.decode(memory().subarray(message, message + length));
    const found = byte === NONE ? "" : ` 0x${byte.toString(16).padStart(2, "0")}`;
    const where = offset === NONE ? "" : ` at byte ${offset}`;
    return new HedgerowError(code, `${context}: ${reason}${found}${where}`);
  }

  #numbers(): Numbers {
    const start = this.#set.numbers();
    return [...new Uint32Array(memory().buffer, start, 10)] as Numbers;
  }
}

function outOfMemory(code: HedgerowErrorCode, context: string, length: number): HedgerowError {
  return new HedgerowError(code, `${context}: not enough memory for ${length} bytes`);
}
