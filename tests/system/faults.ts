/** What goes wrong between packages and the S3 server: some of the requests, in an order that is planned. */
import type { IncomingMessage } from "node:http";

import { type Fault, type FaultKind, type FaultRequest, randomFaults } from "../origin/fault.mjs";
import type { Spoilt } from "../support/snapshots/proxy.js";
import type { Coverage } from "./coverage.js";
import type { Choices } from "./random.js";

/** What may be wrong with an answer, in the words of the origin of other tests. */
const OF_ANSWERS = ["cut", "reset", "stall", "short", "flip", "late", "silent"] as const;

type Make = (choices: Choices) => Spoilt;

/** A fault somewhere in an answer. The same one for the same choices. */
function somewhere(kind: FaultKind): Make {
  return ({ random }) => {
    const faults = randomFaults(random, { share: 1, kinds: [kind] });
    // These look at nothing but the length.
    const fault = (length: number): Fault => faults({ length } as FaultRequest) ?? {};
    return { fault };
  };
}

/** Faults of reading a snapshot. */
export const READING: Readonly<Record<string, Make>> = {
  ...Object.fromEntries(OF_ANSWERS.map((kind) => [`read: ${kind}`, somewhere(kind)])),
  "read: slow": () => ({ fault: () => ({ bytesPerSecond: 200_000 }) }),
  "read: error": () => ({ status: 500 }),
  "read: busy": () => ({ status: 503, headers: { "retry-after": "0" } }),
  "read: throttled": () => ({ status: 429 }),
};

/** Faults of writing one. */
export const WRITING: Readonly<Record<string, Make>> = {
  "write: error": () => ({ status: 500 }),
  "write: busy": () => ({ status: 503 }),
  "write: cut": (choices) => ({ loseRequestAfter: choices.below(2 ** 20) }),
  "write: answer lost": () => ({ loseAnswer: true }),
  "write: late": () => ({ fault: () => ({ firstByte: 100 }) }),
};

/** How many requests of a kind go well between two that do not. */
const BETWEEN = 1;

/** Spoils what was planned, one after another, and lets all else pass. */
export class FaultPlan {
  readonly #coverage: Coverage;
  readonly #choices: Choices;
  readonly #planned: { readonly [kind in "read" | "write"]: string[] } = { read: [], write: [] };
  readonly #passed = { read: 0, write: 0 };

  constructor(coverage: Coverage, choices: Choices) {
    this.#coverage = coverage;
    this.#choices = choices;
  }

  /** Has these happen next, after those that did not yet. */
  plan(reading: readonly string[], writing: readonly string[]): void {
    this.#planned.read.push(...reading);
    this.#planned.write.push(...writing);
  }

  /** What becomes of a request. */
  readonly spoil = ({ method }: IncomingMessage): Spoilt | undefined => {
    if (method !== "GET" && method !== "PUT") return undefined;
    const way = method === "GET" ? "read" : "write";
    const [kind] = this.#planned[way];
    this.#passed[way] += 1;
    if (kind === undefined || this.#passed[way] <= BETWEEN) return undefined;
    this.#passed[way] = 0;
    this.#planned[way].shift();
    this.#coverage.count(kind);
    return { ...READING, ...WRITING }[kind]!(this.#choices);
  };
}
