import { HedgerowError } from "../error.js";
import { headersModule } from "./module.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Longest list of rules, in bytes with their ends. All distinct rules of the longest length fit. */
const MAX_LIST_LENGTH = 2 ** 24;
/** Characters of a rule that are compiled, so that a longer one is rejected. */
const MAX_COMPILED = 258;
/** Longest UTF-8 encoding of a UTF-16 code unit, in bytes. */
const MAX_UTF8_LENGTH = 3;
/** Ends each rule. It is no part of UTF-8. */
const END = 0xff;
/** Sentinel of the module for "no value". */
const NONE = 0xffffffff;

/**
 * Compiles rules into an image, a copy of which it returns.
 *
 * @param keeps whether the rules are an allow-list
 * @throws {HedgerowError} as the constructor of `HeaderStripper`
 */
export function compileRules(rules: Iterable<string>, keeps: boolean): Uint8Array<ArrayBuffer> {
  const listed: string[] = [];
  const result = compile(encode(rules, listed), keeps);
  if (result[0] !== 0) return result;
  const [number, byte, offset] = [1, 5, 9].map((at) =>
    new DataView(result.buffer).getUint32(at, true),
  ) as [number, number, number];
  const reason = decoder.decode(result.subarray(13));
  const found = byte === NONE ? "" : ` 0x${byte.toString(16).padStart(2, "0")}`;
  const where = offset === NONE ? "" : ` at byte ${offset}`;
  throw ruleError(number, listed[number]!, `${reason}${found}${where}`);
}

/** Returns the rules as the module reads them, and adds them to `listed`. */
function encode(rules: Iterable<string>, listed: string[]): Uint8Array {
  let bytes = new Uint8Array(4096);
  let length = 0;
  for (const rule of rules) {
    const number = listed.length;
    if (typeof rule !== "string") {
      const message = `rule ${number}: expected a string, found ${typeof rule}`;
      throw new HedgerowError("ERR_ARGUMENT", message);
    }
    const text = rule.slice(0, MAX_COMPILED);
    const end = length + text.length * MAX_UTF8_LENGTH + 1;
    if (end > bytes.length) {
      if (end > MAX_LIST_LENGTH) throw ruleError(number, rule, "expected at most 16 MiB of rules");
      const longer = new Uint8Array(Math.min(2 * end, MAX_LIST_LENGTH));
      longer.set(bytes);
      bytes = longer;
    }
    length += encoder.encodeInto(text, bytes.subarray(length)).written;
    bytes[length] = END;
    length += 1;
    listed.push(rule);
  }
  return bytes.subarray(0, length);
}

/** Calls the module, and returns a copy of what it returns. */
function compile(rules: Uint8Array, keeps: boolean): Uint8Array<ArrayBuffer> {
  const { compile, __wbindgen_free, __wbindgen_malloc } = headersModule.exports;
  const start = __wbindgen_malloc(rules.length, 1) >>> 0;
  headersModule.memory().set(rules, start);
  const [address, length] = compile(start, rules.length, Number(keeps)) as [number, number];
  const result = headersModule.memory().slice(address >>> 0, (address >>> 0) + length);
  __wbindgen_free(address, length, 1);
  return result;
}

function ruleError(number: number, rule: string, reason: string): HedgerowError {
  const message = `rule ${number} (${JSON.stringify(rule.slice(0, 300))}): ${reason}`;
  return new HedgerowError("ERR_HEADER_RULE", message);
}
