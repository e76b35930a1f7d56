// The workloads of header names, which corpora/headers/README.md describes.
import { readFileSync } from "node:fs";

import { seededRandom } from "../../tests/origin/random.mjs";
import { inRoot } from "./paths.mjs";

/** Requests per workload. */
const REQUESTS = 1024;

/** The characters of names. */
const CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789-";

/** The workloads, each with the function that generates its next request. */
const WORKLOADS = { real: realRequests, uniform: uniformRequests, near: nearRequests };

/** The names of internal headers. */
export const internalNames = () => linesOf("internal");

/** The names of clients and proxies, which an allow-list keeps. */
export const externalNames = () => {
  const clients = linesOf("clients").flatMap((line) => line.split(" "));
  return [...new Set([...clients, ...linesOf("proxies")])];
};

/** Ten prefix rules as operators add them, the same as in the native benchmark. */
export const prefixRules = () => linesOf("prefix-rules");

/**
 * Returns the requests of a workload, the same ones in every run.
 *
 * @param {keyof typeof WORKLOADS} workload
 */
export function requests(workload) {
  const next = WORKLOADS[workload](new Choices(1));
  return Array.from({ length: REQUESTS }, () => ({ names: next() }));
}

/** The fields of a client in the order in which it sends them, then those of proxies; internal ones in between. */
function realRequests(/** @type {Choices} */ choices) {
  const clients = linesOf("clients").map((line) => line.split(" "));
  const proxies = linesOf("proxies");
  const rules = internalNames();
  return () => {
    const count = choices.between(10, 30);
    const internal = choices.some(rules, choices.hits(count, 0.075));
    const added = choices.some(proxies, Math.min(choices.between(5, 8), count - internal.length));
    const client = choices.one(clients).slice(0, count - internal.length - added.length);
    const names = [...client, ...added];
    for (const name of internal) names.splice(choices.between(1, names.length), 0, name);
    return names;
  };
}

/** Internal names and those of clients and proxies, shuffled. */
function uniformRequests(/** @type {Choices} */ choices) {
  const external = externalNames();
  const rules = internalNames();
  return () => {
    const count = choices.between(10, 30);
    const internal = choices.some(rules, choices.hits(count, 0.49));
    const names = [...internal, ...choices.some(external, count - internal.length)];
    return choices.some(names, names.length);
  };
}

/** Internal names with a character replaced, removed or inserted, or with a suffix. */
function nearRequests(/** @type {Choices} */ choices) {
  const internal = internalNames();
  return () => {
    const names = new Set();
    while (names.size < 20) {
      const name = variant(choices.one(internal), choices);
      if (!internal.includes(name)) names.add(name);
    }
    return [...names];
  };
}

/** Returns a name with one edit. */
export function variant(/** @type {string} */ name, /** @type {Choices} */ choices) {
  const at = choices.between(1, name.length - 1);
  const character = choices.one([...CHARACTERS]);
  const [head, tail] = [name.slice(0, at), name.slice(at)];
  return choices.one([
    head + character + tail.slice(1),
    head + tail.slice(1),
    head + character + tail,
    name + choices.one(["-id", "-x", "-ms", "s", "2"]),
  ]);
}

/** Choices that look random. */
export class Choices {
  #random;

  constructor(/** @type {number} */ seed) {
    this.#random = seededRandom(seed);
  }

  /** Returns a number from `min` to `max`. */
  between(/** @type {number} */ min, /** @type {number} */ max) {
    return min + Math.floor(this.#random() * (max - min + 1));
  }

  /** Returns how often an event of this probability occurs in `trials`. */
  hits(/** @type {number} */ trials, /** @type {number} */ probability) {
    return Array.from({ length: trials }, this.#random).filter((number) => number < probability)
      .length;
  }

  /** Returns one element. @template T @param {readonly T[]} all */
  one(all) {
    return /** @type {T} */ (all[this.between(0, all.length - 1)]);
  }

  /** Returns `count` different elements in random order. @template T @param {readonly T[]} all @param {number} count */
  some(all, count) {
    const rest = [...all];
    return Array.from({ length: count }, () =>
      rest.splice(this.between(0, rest.length - 1), 1),
    ).flat();
  }
}

/** @param {string} name */
function linesOf(name) {
  return readFileSync(inRoot("corpora", "headers", `${name}.txt`), "utf8")
    .trim()
    .split("\n");
}
