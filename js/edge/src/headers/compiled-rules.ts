import { HedgerowError } from "../error.js";
import { MemoryView, WasmObject } from "../module.js";
import { headersModule } from "./module.js";
import { Probe } from "./probe.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Longest `Connection` value, in bytes: far beyond what HTTP servers accept. */
const MAX_VALUE_LENGTH = 2 ** 24;
/** Size up to which the buffer for such values is kept between calls, in bytes. */
const KEPT_VALUE_LENGTH = 2 ** 16;
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
  image: number,
  imageLength: number,
  shortestPrefix: number,
  stripsConnection: number,
  message: number,
  messageLength: number,
  byte: number,
  offset: number,
];

/** Rules compiled by the WebAssembly module, and the buffers that pass names to it. */
export class CompiledRules {
  readonly #object: WasmObject;
  readonly #image: MemoryView;
  readonly #scratch: MemoryView;
  #value = new MemoryView(0, 0, memory);
  #isFreed = false;
  readonly probe: Probe;
  /** The table that {@link probe} reads. */
  readonly table: MemoryView;
  /** The copy of these rules in `block.wasm`, once there is one. */
  block: { free(): void } | undefined;
  /** Whether a rule matches `Connection`, so that the fields it nominates are stripped, too. */
  readonly stripsConnection: boolean;

  /** @throws {HedgerowError} as the constructor of `HeaderStripper` */
  constructor(rules: Iterable<string>) {
    const { ruleset_new, ruleset_compile, __wbg_ruleset_free } = headersModule.exports;
    this.#object = new WasmObject(ruleset_new(), __wbg_ruleset_free);
    const [scratch, scratchLength] = this.#numbers();
    this.#scratch = new MemoryView(scratch, scratchLength, memory);
    try {
      this.#add(rules);
    } catch (error) {
      this.free();
      throw error;
    }
    ruleset_compile(this.#object.pointer);
    const [, , table, tableLength, image, imageLength, shortestPrefix, stripsConnection] =
      this.#numbers();
    this.table = new MemoryView(table, tableLength, memory);
    this.#image = new MemoryView(image, imageLength, memory);
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
      const { length } = this.write(rule);
      if (headersModule.exports.ruleset_add(this.#object.pointer, length) === 0) {
        throw this.#errorOf(`rule ${index} (${JSON.stringify(rule.slice(0, 300))})`);
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
    return headersModule.exports.ruleset_matches(this.#object.pointer, length) !== 0;
  }

  /**
   * Returns the fields that a `Connection` value nominates and no rule matches: the name in lower case, and
   * whether a message that has the field must be rejected because senders must not nominate it.
   */
  nominated(value: string): Map<string, boolean> {
    this.live();
    const length = this.#writeValue(encoder.encode(`${value},`));
    const left = headersModule.exports.ruleset_nominated(this.#object.pointer, length);
    const names = decoder.decode(this.#value.bytes.subarray(0, Math.max(left, 0)));
    this.#release(length);
    if (left < 0) throw outOfMemory(length);
    const nominations = names.toLowerCase().matchAll(NOMINATED);
    return new Map(Array.from(nominations, ([, name, mark]) => [name!, mark === FORBIDDEN]));
  }

  /** The compiled rules, as `block.wasm` reads them. Copy the bytes before the next call. */
  get image(): Uint8Array {
    return this.#image.bytes;
  }

  /** Releases the module's memory. */
  free(): void {
    if (this.#isFreed) return;
    this.#isFreed = true;
    this.#object.free();
    this.block?.free();
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

  /** Writes a value to the module's buffer and returns its length. */
  #writeValue(value: Uint8Array): number {
    const { length } = value;
    if (length > MAX_VALUE_LENGTH) {
      const message = `Connection: expected at most 16 MiB, found ${length} bytes`;
      throw new HedgerowError("ERR_ARGUMENT", message);
    }
    if (length > this.#value.length) {
      const start = headersModule.exports.ruleset_reserve(this.#object.pointer, length) >>> 0;
      // A failed reservation has also released the previous buffer.
      this.#value = new MemoryView(start, start === 0 ? 0 : length, memory);
      if (start === 0) throw outOfMemory(length);
    }
    this.#value.bytes.set(value);
    return length;
  }

  /** Releases the buffer after a large value. */
  #release(length: number): void {
    if (length <= KEPT_VALUE_LENGTH) return;
    headersModule.exports.ruleset_reserve(this.#object.pointer, 0);
    this.#value = new MemoryView(0, 0, memory);
  }

  /** Returns the error for the rule that the module rejected last. */
  #errorOf(context: string): HedgerowError {
    const [message, length, byte, offset] = this.#numbers().slice(-4) as [
      ...[message: number, length: number, byte: number, offset: number],
    ];
    const reason = decoder.decode(memory().subarray(message, message + length));
    const found = byte === NONE ? "" : ` 0x${byte.toString(16).padStart(2, "0")}`;
    const where = offset === NONE ? "" : ` at byte ${offset}`;
    return new HedgerowError("ERR_HEADER_RULE", `${context}: ${reason}${found}${where}`);
  }

  #numbers(): Numbers {
    const start = headersModule.exports.ruleset_numbers(this.#object.pointer) >>> 0;
    return [...new Uint32Array(memory().buffer, start, 12)] as Numbers;
  }
}

const memory = () => headersModule.memory();

function outOfMemory(length: number): HedgerowError {
  return new HedgerowError("ERR_ARGUMENT", `Connection: not enough memory for ${length} bytes`);
}
