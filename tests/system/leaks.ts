/** Samples the resources of long-lived processes after each round, and detects growth. */
import { descendants, expectNothingOpened, openFiles, residentBytes } from "./processes.js";

const MIB = 2 ** 20;

/** Rounds before the first sample, in which everything is loaded that is kept after its first use. */
const WARM_UP = 1;

/** A process that lives as long as the scenario. */
export interface LongLived {
  readonly name: string;
  readonly pid: number;
  /** Returns further kinds of memory, in bytes. */
  measure(): Promise<Readonly<Record<string, number>>>;
}

/** Maximum growth of each kind of memory, from the first third of the rounds to the last. */
const LIMITS: Readonly<Record<string, number>> = {
  // The garbage collector lets the heap grow before it collects.
  resident: 64 * MIB,
  heap: 6 * MIB,
  // A few pages, which are never given back: replaced filters of different sizes fragment the memory.
  webAssembly: 4 * 64 * 1024,
};

export class LeakWatch {
  readonly #processes: readonly LongLived[];
  readonly #openBefore = new Map<number, readonly string[]>();
  readonly #samples = new Map<string, { readonly kind: string; readonly bytes: number[] }>();

  constructor(processes: readonly LongLived[]) {
    this.#processes = processes;
  }

  /** Takes a sample. Call it after each round, while the processes are idle. */
  async sample(round: number): Promise<void> {
    if (round < WARM_UP) return;
    for (const each of this.#processes) {
      const { name, pid } = each;
      const children = descendants(pid);
      if (children.length > 0) {
        throw new Error(`${name} left a child process running: ${children[0]!.name}`);
      }
      const before = this.#openBefore.get(pid);
      if (before === undefined) this.#openBefore.set(pid, openFiles(pid));
      else await expectNothingOpened(pid, before);
      const measured = { ...(await each.measure()), resident: residentBytes(pid) };
      for (const [kind, bytes] of Object.entries(measured)) {
        const sample = this.#samples.get(`${name}, ${kind}`) ?? { kind, bytes: [] };
        sample.bytes.push(bytes);
        this.#samples.set(`${name}, ${kind}`, sample);
      }
    }
  }

  /** Throws if any kind of memory grew by more than its limit. */
  check(): void {
    for (const [name, { kind, bytes }] of this.#samples) {
      const third = Math.ceil(bytes.length / 3);
      const [first, last] = [median(bytes.slice(0, third)), median(bytes.slice(-third))];
      const limit = LIMITS[kind] ?? 0;
      if (last - first <= limit) continue;
      const all = bytes.map((each) => (each / MIB).toFixed(1)).join(", ");
      throw new Error(`${name} grew by more than ${limit} bytes; MiB per round: ${all}`);
    }
  }

  /** Returns the memory after each round, one line for each kind. */
  table(): string {
    const line = ([name, { bytes }]: [string, { bytes: number[] }]) =>
      `${name}, MiB: ${bytes.map((each) => (each / MIB).toFixed(1)).join(" ")}`;
    return [...this.#samples].map(line).join("\n");
  }
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}
