// Child processes that reply to questions of their parent, one at a time.
import { fork } from "node:child_process";
import { once } from "node:events";

/**
 * Sends a first message to the parent and replies to each of its questions. The process ends with its parent.
 *
 * @template Question, Answer
 * @param {unknown} first
 * @param {(question: Question) => Answer | Promise<Answer>} answer
 */
export function answerParent(first, answer) {
  process.on("disconnect", () => process.exit());
  process.on("message", async (question) => {
    process.send?.({ answer: await answer(/** @type {Question} */ (question)) });
  });
  process.send?.({ answer: first });
}

/**
 * Load on a port: a number of requests, or as many as pass in some seconds.
 *
 * @typedef {{ port: number } & ({ amount: number } | { seconds: number })} Job
 */

/** Concurrent requests of a job. */
export const CONNECTIONS = 16;

/** Returns the processor time of this process in microseconds, garbage collection and compilers included. */
export function processorTime() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** Returns percentiles of latencies, and the rate. @param {number[]} times in milliseconds @param {number} seconds */
export function latencies(times, seconds) {
  const sorted = Float64Array.from(times).sort();
  const at = (/** @type {number} */ share) =>
    sorted[Math.floor(share * sorted.length)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), rate: times.length / seconds, seconds };
}

/** A child process of the benchmark. */
export class Process {
  #child;
  /** Its first message. */
  first;

  /**
   * @param {string} script a file of this folder
   * @param {string[]} args
   */
  constructor(script, args) {
    const file = new URL(script, import.meta.url);
    this.#child = fork(file, args);
    this.first = this.#next();
  }

  /** @param {unknown} [question] @returns {Promise<any>} */
  ask(question = {}) {
    const answer = this.#next();
    this.#child.send(/** @type {import("node:child_process").Serializable} */ (question));
    return answer;
  }

  /** Ends the process and waits for its exit. */
  async end() {
    if (!this.#child.connected) return;
    const exit = once(this.#child, "exit");
    this.#child.disconnect();
    await exit;
  }

  async #next() {
    const ended = new AbortController();
    const { signal } = ended;
    const exit = once(this.#child, "exit", { signal }).then(([code]) => {
      throw new Error(`a child process ended unexpectedly (exit code ${code})`);
    });
    const reply = once(this.#child, "message", { signal }).then(([{ answer }]) => answer);
    try {
      return await Promise.race([reply, exit]);
    } finally {
      ended.abort();
      await Promise.allSettled([reply, exit]);
    }
  }
}
