// Methods of stripping headers in JavaScript: Hedgerow, and code that people write without it. Runs in every
// engine.
import { stripBlock } from "hedgerow/block";

import { methodsOf } from "../../harness/methods.mjs";

/** @typedef {import("hedgerow").HeaderStripper} HeaderStripper */
/** @typedef {{ names: string[] }} Request */

/** The workloads of `corpora/headers`. */
export const WORKLOADS = /** @type {const} */ (["real", "uniform", "near"]);

/** HTTP/1.1 peers mostly write names with capitals, which only a raw list keeps. */
export const CASES = /** @type {const} */ ({
  raw: ["", ", capitals"],
  headers: [""],
  block: [""],
});

/** Requests by how their names are written: as they are, or the first letter of each part as a capital. */
export const writtenAs = {
  "": (/** @type {Request} */ request) => request,
  ", capitals": (/** @type {Request} */ { names }) => ({
    names: names.map((name) => name.replace(/(^|-)[a-z]/g, (letter) => letter.toUpperCase())),
  }),
};

/** A value of typical length. */
const VALUE = "0123456789abcdef0123456789abcdef";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Returns a name as a parser makes it: a string that the engine has not seen before. @param {string} text */
const freshString = (text) => decoder.decode(encoder.encode(text));

/** @param {Request} request */
const freshRaw = ({ names }) => names.flatMap((name) => [freshString(name), "value"]);

/** @param {Request} request */
const freshHeaders = ({ names }) => {
  const headers = new Headers();
  for (const name of names) headers.append(freshString(name), "value");
  return headers;
};

/** @param {Request} request */
const freshBlock = ({ names }) =>
  encoder.encode(names.map((name) => `${name}: ${VALUE}\r\n`).join(""));

/** A hand-written hash table on the length and two characters. */
class PlainTable {
  /** @type {(string[] | undefined)[]} */
  #slots = new Array(4096);

  /** @param {string[]} rules in lower case */
  constructor(rules) {
    for (const rule of rules) {
      const slot = slotOf(rule);
      this.#slots[slot] = [...(this.#slots[slot] ?? []), rule];
    }
  }

  /** @param {string} name */
  has(name) {
    return this.at(name)?.includes(name.toLowerCase()) ?? false;
  }

  /** Returns the rules that a name may equal. @param {string} name */
  at(name) {
    return this.#slots[slotOf(name)];
  }
}

/** The same table, which compares a name as it is before it makes one in lower case. */
class ComparingTable extends PlainTable {
  /** @param {string} name @override */
  has(name) {
    const rules = this.at(name);
    return rules !== undefined && (rules.includes(name) || rules.includes(name.toLowerCase()));
  }
}

/** @param {string} name */
function slotOf(name) {
  const { length } = name;
  const middle = name.charCodeAt(length >> 1) | 32;
  const end = name.charCodeAt(length > 1 ? length - 2 : 0) | 32;
  return (Math.imul((length << 14) ^ (middle << 7) ^ end, 0x9e3779b1) >>> 20) & 4095;
}

/** @param {string[]} raw @param {(name: string) => boolean} matches */
function filterRaw(raw, matches) {
  /** @type {string[]} */
  const kept = [];
  for (let index = 0; index < raw.length; index += 2) {
    const name = /** @type {string} */ (raw[index]);
    if (!matches(name)) kept.push(name, /** @type {string} */ (raw[index + 1]));
  }
  return kept;
}

/** @param {Headers} headers @param {(name: string) => boolean} matches */
function filterHeaders(headers, matches) {
  const internal = [];
  for (const name of headers.keys()) if (matches(name)) internal.push(name);
  for (const name of internal) headers.delete(name);
}

/**
 * @param {string[]} rules
 * @param {HeaderStripper} stripper
 * @param {HeaderStripper} withPrefixes with ten prefix rules as well
 * @param {HeaderStripper} allowing an allow-list of all names that no rule matches
 * @param {string[]} prefixes that `stripper` strips, too
 */
export function methods(rules, stripper, withPrefixes, allowing, prefixes = []) {
  const set = new Set(rules);
  const isInternal =
    prefixes.length === 0
      ? (/** @type {string} */ lower) => set.has(lower)
      : (/** @type {string} */ lower) =>
          set.has(lower) || prefixes.some((prefix) => lower.startsWith(prefix));
  const regExp = new RegExp(`^(?:${rules.join("|")})$`, "i");
  const table = new PlainTable(rules);
  const comparing = new ComparingTable(rules);
  /** @param {Request} request */
  const rawAndAnswers = (request) => ({
    raw: freshRaw(request),
    answers: request.names.map((name) => set.has(name.toLowerCase())),
  });
  /** @param {Request} request */
  const headersAndAnswers = (request) => ({
    headers: freshHeaders(request),
    internal: request.names.filter((name) => set.has(name)),
  });
  return {
    raw: [
      ...methodsOf(freshRaw, {
        hedgerow: (raw) => stripper.stripRaw(raw),
        "hedgerow-10-prefixes": (raw) => withPrefixes.stripRaw(raw),
        "hedgerow-keep": (raw) => allowing.stripRaw(raw),
        "tolowercase-set": (raw) => filterRaw(raw, (name) => isInternal(name.toLowerCase())),
        regexp: (raw) => filterRaw(raw, (name) => regExp.test(name)),
        "plain-table": (raw) => filterRaw(raw, (name) => table.has(name)),
        "comparing-table": (raw) => filterRaw(raw, (name) => comparing.has(name)),
      }),
      ...methodsOf(rawAndAnswers, {
        "floor-answer-known": ({ raw, answers }) => {
          const kept = [];
          for (let index = 0; index < raw.length; index += 2) {
            if (!answers[index >> 1]) kept.push(raw[index], raw[index + 1]);
          }
          return kept;
        },
      }),
    ],
    headers: [
      ...methodsOf(freshHeaders, {
        hedgerow: (headers) => stripper.strip(headers),
        "hedgerow-10-prefixes": (headers) => withPrefixes.strip(headers),
        "hedgerow-keep": (headers) => allowing.strip(headers),
        "delete-loop": (headers) => {
          for (const rule of rules) headers.delete(rule);
        },
        "iterate-set": (headers) => filterHeaders(headers, (name) => set.has(name)),
        "iterate-regexp": (headers) => filterHeaders(headers, (name) => regExp.test(name)),
        "iterate-plain-table": (headers) => filterHeaders(headers, (name) => table.has(name)),
        "iterate-comparing-table": (headers) =>
          filterHeaders(headers, (name) => comparing.has(name)),
        "floor-iterate": (headers) => {
          let count = 0;
          for (const name of headers.keys()) count += name.length;
          return count;
        },
      }),
      ...methodsOf(headersAndAnswers, {
        "floor-iterate-and-delete-known": ({ headers, internal }) => {
          let count = 0;
          for (const name of headers.keys()) count += name.length;
          for (const name of internal) headers.delete(name);
          return count;
        },
      }),
    ],
    block: methodsOf(freshBlock, {
      hedgerow: (block) => stripBlock(stripper, block),
      "hedgerow-keep": (block) => stripBlock(allowing, block),
      "decode-split-filter-join": (block) =>
        decoder
          .decode(block)
          .split("\r\n")
          .filter((line) => !set.has(line.slice(0, line.indexOf(":")).toLowerCase()))
          .join("\r\n"),
    }),
  };
}
