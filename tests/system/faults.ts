/** Faults between the packages and the S3 server, injected into some of the requests in a planned order. */
import type { IncomingMessage } from "node:http";

import { type Fault, type FaultKind, type FaultRequest, randomFaults } from "../origin/fault.mjs";
import type { ProxyFault } from "../support/snapshots/proxy.js";
import type { Coverage } from "./coverage.js";
import type { Choices } from "./random.js";

/** Kinds of faulty responses. */
const RESPONSE_FAULTS = ["cut", "reset", "stall", "short", "flip", "late", "silent"] as const;

type Make = (choices: Choices) => ProxyFault;

/** Returns a fault at a random position of the response, which depends only on the choices. */
function atRandomPosition(kind: FaultKind): Make {
  return ({ random }) => {
    const faults = randomFaults(random, { share: 1, kinds: [kind] });
    // These kinds depend only on the length.
    const fault = (length: number): Fault => faults({ length } as FaultRequest) ?? {};
    return { fault };
  };
}

/** Faults of requests that read a snapshot. */
export const READING: Readonly<Record<string, Make>> = {
  ...Object.fromEntries(RESPONSE_FAULTS.map((kind) => [`read: ${kind}`, atRandomPosition(kind)])),
  "read: slow": () => ({ fault: () => ({ bytesPerSecond: 200_000 }) }),
  "read: error": () => ({ status: 500 }),
  "read: busy": () => ({ status: 503, headers: { "retry-after": "0" } }),
  "read: throttled": () => ({ status: 429 }),
};

/** Faults of requests that write a snapshot. */
export const WRITING: Readonly<Record<string, Make>> = {
  "write: error": () => ({ status: 500 }),
  "write: busy": () => ({ status: 503 }),
  "write: cut": (choices) => ({ loseRequestAfter: choices.below(2 ** 20) }),
  "write: response lost": () => ({ loseResponse: true }),
  "write: late": () => ({ fault: () => ({ firstByte: 100 }) }),
};

/** Requests of a kind that pass between two faults. */
const PASSED_BETWEEN = 1;

/** Injects the planned faults in order, and lets all other requests pass. */
export class FaultPlan {
  readonly #coverage: Coverage;
  readonly #choices: Choices;
  readonly #planned: { readonly [kind in "read" | "write"]: string[] } = { read: [], write: [] };
  readonly #passed = { read: 0, write: 0 };

  constructor(coverage: Coverage, choices: Choices) {
    this.#coverage = coverage;
    this.#choices = choices;
  }

  /** Appends faults to the plan. */
  plan(reading: readonly string[], writing: readonly string[]): void {
    this.#planned.read.push(...reading);
    this.#planned.write.push(...writing);
  }

  /** Returns the fault of a request, if it gets one. */
  readonly inject = ({ method }: IncomingMessage): ProxyFault | undefined => {
    if (method !== "GET" && method !== "PUT") return undefined;
    const direction = method === "GET" ? "read" : "write";
    const [kind] = this.#planned[direction];
    this.#passed[direction] += 1;
    if (kind === undefined || this.#passed[direction] <= PASSED_BETWEEN) return undefined;
    this.#passed[direction] = 0;
    this.#planned[direction].shift();
    this.#coverage.count(kind);
    return { ...READING, ...WRITING }[kind]!(this.#choices);
  };
}
