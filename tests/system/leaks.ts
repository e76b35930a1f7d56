/** Looks after each round at what long-lived processes have, and tells whether it becomes more. */
import { descendants, expectNothingOpened, openFiles, residentBytes } from "./processes.js";

const MIB = 2 ** 20;

/** How many rounds pass before anything is compared: what is loaded and kept on first use is there then. */
const WARM_UP = 1;

/** A process that lives as long as the scenario. */
export interface LongLived {
  readonly name: string;
  readonly pid: number;
  /** Bytes of other kinds, by what they are. */
  measure(): Promise<Readonly<Record<string, number>>>;
}

/** By how much a kind of memory may grow, from the first rounds to the last ones. */
const LIMITS: Readonly<Record<string, number>> = {
  // A collector of garbage lets it grow for a while before it collects any.
  resident: 64 * MIB,
  heap: 6 * MIB,
  // It grows by pages, and none is ever given back.
  // A few pages: filters of many sizes come and go, and the room between them is not always the same.
  webAssembly: 4 * 64 * 1024,
};

export class LeakWatch {
  readonly #processes: readonly LongLived[];
  readonly #openBefore = new Map<number, readonly string[]>();
  readonly #samples = new Map<string, { readonly kind: string; readonly bytes: number[] }>();

  constructor(processes: readonly LongLived[]) {
    this.#processes = processes;
  }

  /** To be called after each round, when nobody is at work. */
  async look(round: number): Promise<void> {
    if (round < WARM_UP) return;
    for (const each of this.#processes) {
      const { name, pid } = each;
      const children = descendants(pid);
      if (children.length > 0) {
        throw new Error(`${name}: expected no processes of its own, found ${children[0]!.name}`);
      }
      const before = this.#openBefore.get(pid);
      if (before === undefined) this.#openBefore.set(pid, openFiles(pid));
      else await expectNothingOpened(pid, before);
      const measured = { ...(await each.measure()), resident: residentBytes(pid) };
      for (const [kind, bytes] of Object.entries(measured)) {
        const sampled = this.#samples.get(`${name}, ${kind}`) ?? { kind, bytes: [] };
        sampled.bytes.push(bytes);
        this.#samples.set(`${name}, ${kind}`, sampled);
      }
    }
  }

  /** Throws if any memory has grown by more than it may. */
  check(): void {
    for (const [name, { kind, bytes }] of this.#samples) {
      const third = Math.ceil(bytes.length / 3);
      const [first, last] = [median(bytes.slice(0, third)), median(bytes.slice(-third))];
      const limit = LIMITS[kind] ?? 0;
      if (last - first <= limit) continue;
      const all = bytes.map((each) => (each / MIB).toFixed(1)).join(", ");
      throw new Error(`${name}: expected it to grow by ${limit} bytes at most, found MiB: ${all}`);
    }
  }

  /** How much memory there was after each round, a line for each kind. */
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
