import source from "wasm:block";

import type { InitOutput } from "../../wasm/block.js";
import { HedgerowError, wrongType } from "../error.js";
import type { CompiledRules } from "../headers/compiled-rules.js";
import { type HeaderStripper, rulesOf } from "../headers/header-stripper.js";
import { MemoryView, otherVersion, WasmModule, WasmObject } from "../module.js";

/** The module that strips field blocks. */
export const blockModule = /* @__PURE__ */ new WasmModule<InitOutput>(
  "block",
  "blockstripper_add",
  source,
);

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

/**
 * Strips a block of HTTP/1.1 field lines in place, by the rules of a stripper. Each line ends in CR LF; the
 * empty line that closes the block is optional. A line that begins with white space continues the line before
 * it.
 *
 * The first call for a stripper compiles its rules in `block.wasm`, whose memory `free()` of the stripper
 * releases, too.
 *
 * @returns a view of the stripped block, at the start of `block`; the bytes after it are undefined
 * @throws {HedgerowError} `ERR_FIELD_BLOCK` if the block has a bare CR or LF, a NUL, a line without a colon
 * or with white space before it, or a name that is not a token; does not end in CR LF; exceeds 16 MiB;
 * frames the body twice (`Content-Length` and `Transfer-Encoding`, or two lengths); or has a `Connection`
 * that nominates a field meant for all recipients, or more than 1,024 fields that no rule matches. The
 * block is then unchanged; reject the message and close the connection. `ERR_FREED` if the stripper was
 * freed; `ERR_ARGUMENT` if an argument has the wrong type
 *
 * @example
 * ```ts
 * import { HeaderStripper } from "hedgerow";
 * import { stripBlock } from "hedgerow/block";
 *
 * const stripper = new HeaderStripper(["x-internal-*"]);
 * const block = new TextEncoder().encode("Accept: *\/*\r\nX-Internal-User: 7\r\n\r\n");
 * new TextDecoder().decode(stripBlock(stripper, block)); // "Accept: *\/*\r\n\r\n"
 * ```
 */
export function stripBlock(stripper: HeaderStripper, block: Uint8Array): Uint8Array {
  const rules = rulesOf(stripper);
  if (rules === undefined) throw wrongType("a HeaderStripper", stripper);
  if (!(block instanceof Uint8Array)) throw wrongType("a Uint8Array", block);
  rules.live().block ??= new BlockRules(rules);
  return (rules.block as BlockRules).strip(block);
}

/** Rules in the memory of `block.wasm`, and the buffer that passes blocks to it. */
class BlockRules {
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

  /** Strips a field block in place and returns a view of the result. */
  strip(block: Uint8Array): Uint8Array {
    const { length } = block;
    if (length > MAX_LENGTH) throw errorOf(`expected at most 16 MiB, found ${length} bytes`);
    this.#write(block);
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

  #write(bytes: Uint8Array): void {
    const { length } = bytes;
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
