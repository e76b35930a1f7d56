import { HedgerowError } from "../error.js";
import type { CompiledRules } from "../headers/compiled-rules.js";
import { MemoryView, otherVersion, WasmObject } from "../module.js";
import { blockModule } from "./module.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Longest field block, in bytes: far beyond what HTTP servers accept. */
const MAX_LENGTH = 2 ** 24;
/** Size up to which the buffer is kept between calls, in bytes. */
const KEPT_LENGTH = 2 ** 16;
/** Sentinel of the module for "no value". */
const NONE = 0xffffffff;

/** The fields of `BlockStripper.fault`. */
type Fault = [message: number, length: number, byte: number, offset: number];

/** Rules in the memory of `block.wasm`, and the buffer that passes blocks to it. */
export class BlockRules {
  readonly #object: WasmObject;
  #buffer = new MemoryView(0, 0, memory);

  /**
   * @throws {HedgerowError} `ERR_FIELD_BLOCK` if there is not enough memory; `ERR_MODULE` if the module refuses a
   * rule, because it is one of another version
   */
  constructor({ rules, keeps, isExact }: CompiledRules) {
    const { exports } = blockModule;
    const pointer = exports.blockstripper_new(Number(keeps), Number(isExact));
    this.#object = new WasmObject(pointer, exports.__wbg_blockstripper_free);
    try {
      for (const { lower, isExact } of rules) {
        const rule = encoder.encode(isExact ? lower : `${lower}*`);
        this.#write(rule);
        if (!exports.blockstripper_add(pointer, rule.length)) {
          throw otherVersion("block", "one that refuses a rule");
        }
      }
      exports.blockstripper_build(pointer);
    } catch (error) {
      this.free();
      // The module traps if it has no memory for its own data.
      if (!(error instanceof WebAssembly.RuntimeError)) throw error;
      throw errorOf("not enough memory for the rules");
    }
  }

  /** Strips a field block of `length` bytes in place and returns a view of the result. */
  strip(block: Uint8Array, length: number): Uint8Array {
    if (length > MAX_LENGTH) throw errorOf(`expected at most 16 MiB, found ${length} bytes`);
    this.#write(block, length);
    const left = blockModule.exports.blockstripper_strip(this.#object.pointer, length);
    if (left >= 0 && left < length) block.set(this.#buffer.bytes.subarray(0, left));
    this.#release(length);
    if (left < 0) throw this.#fault();
    return left === length ? block : block.subarray(0, left);
  }

  /** Releases the module's memory. */
  free(): void {
    this.#object.free();
  }

  #write(bytes: Uint8Array, length = bytes.length): void {
    if (length > this.#buffer.length) {
      const start = blockModule.exports.blockstripper_reserve(this.#object.pointer, length) >>> 0;
      // A failed reservation has also released the previous buffer.
      this.#buffer = new MemoryView(start, start === 0 ? 0 : length, memory);
      if (start === 0) throw errorOf(`not enough memory for ${length} bytes`);
    }
    this.#buffer.bytes.set(bytes);
  }

  /** Releases the buffer after a large block. */
  #release(length: number): void {
    if (length <= KEPT_LENGTH) return;
    blockModule.exports.blockstripper_reserve(this.#object.pointer, 0);
    this.#buffer = new MemoryView(0, 0, memory);
  }

  /** Returns the error for the block that the module rejected last. */
  #fault(): HedgerowError {
    const start = blockModule.exports.blockstripper_fault(this.#object.pointer) >>> 0;
    const [text, length, byte, offset] = [...new Uint32Array(memory().buffer, start, 4)] as Fault;
    const reason = decoder.decode(memory().subarray(text, text + length));
    const found = byte === NONE ? "" : ` 0x${byte.toString(16).padStart(2, "0")}`;
    const where = offset === NONE ? "" : ` at byte ${offset}`;
    return errorOf(`${reason}${found}${where}`);
  }
}

const memory = () => blockModule.memory();

function errorOf(message: string): HedgerowError {
  return new HedgerowError("ERR_FIELD_BLOCK", `field block: ${message}`);
}
