/** What a store of disks must have, after everything that its hosts did and tried. */
import { createHash } from "node:crypto";

/** Returns a hash of the content of a disk. */
export function hashOf(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The kinds of calls that may remove generations. */
type Removal = "expire" | "remove";

/** A generation that a call has acknowledged. */
interface Fact {
  readonly name: string;
  readonly number: number;
  readonly digest: string | undefined;
  /** When the call began and ended. */
  readonly begun: number;
  readonly ended: number;
  /** Which attachment saved it, and to which of the disks of this name. */
  readonly epoch: number | undefined;
  readonly life: number | undefined;
}

/** A call that may have removed generations. */
interface Doubt {
  readonly kind: Removal;
  /** The name of the disk, or undefined for all disks. */
  readonly name: string | undefined;
  /** The generations, or undefined for any. */
  readonly numbers: readonly number[] | undefined;
  readonly ended: number;
}

/** A generation as the store has it. */
export interface FoundGeneration {
  readonly number: number;
  readonly digest: string;
}

/** What the calls of all hosts have acknowledged. */
export class StoreFacts {
  readonly #contents = new Map<string, Set<string>>();
  readonly #attempts = new Set<string>();
  readonly #facts: Fact[] = [];
  readonly #doubts: Doubt[] = [];
  /** How often a disk of a name may have been removed. */
  readonly #lives = new Map<string, number>();
  #time = 0;

  /** Returns a time that is later than all before. */
  now(): number {
    this.#time += 1;
    return this.#time;
  }

  /** Notes the content of a snapshot, or the contents of which it has one. */
  knows(digest: string, ...contents: readonly string[]): void {
    const known = this.#contents.get(digest);
    const possible = known ? contents.filter((content) => known.has(content)) : contents;
    if (possible.length === 0) {
      throw new Error(`snapshot ${digest}: two saves of different contents have this identity`);
    }
    this.#contents.set(digest, new Set(possible));
  }

  /** Notes a content that a call tried to store. */
  attempted(...contents: readonly string[]): void {
    for (const content of contents) this.#attempts.add(content);
  }

  /** Notes a generation that was acknowledged. */
  acknowledge(
    name: string,
    { number, digest }: { readonly number: number; readonly digest?: string },
    begun: number,
    session: { readonly epoch?: number; readonly life?: number | undefined } = {},
  ): void {
    const { epoch, life } = session;
    const rival = this.#facts.find(
      (one) =>
        life !== undefined && one.name === name && one.life === life && one.number === number,
    );
    if (rival !== undefined)
      throw new Error(
        `${name}: two writers saved generation ${number}: epochs ${rival.epoch}, ${epoch}`,
      );
    this.#facts.push({ name, number, digest, begun, ended: this.now(), epoch, life });
    for (const one of this.#facts) {
      if (life === undefined || epoch === undefined || one.epoch === undefined) continue;
      if (one.name !== name || one.life !== life || one.number > number === one.epoch > epoch)
        continue;
      if (one.epoch === epoch || one.number === number) continue;
      const text = `generation ${one.number} of epoch ${one.epoch}, ${number} of epoch ${epoch}`;
      throw new Error(`${name}: a writer saved after it was lost: ${text}`);
    }
  }

  /** Notes the end of a call that may have removed generations. */
  doubt(kind: Removal, name?: string, numbers?: readonly number[]): void {
    this.#doubts.push({ kind, name, numbers, ended: this.now() });
  }

  /** Notes that a disk may be removed now. */
  endLife(name: string): void {
    this.#lives.set(name, this.life(name) + 1);
  }

  /** Returns which of the disks of a name there is. */
  life(name: string): number {
    return this.#lives.get(name) ?? 0;
  }

  /** Checks the content of a snapshot. */
  checkContent(digest: string, content: Uint8Array): void {
    const found = hashOf(content);
    const known = this.#contents.get(digest);
    if (known === undefined ? this.#attempts.has(found) : known.has(found)) {
      this.#contents.set(digest, new Set([found]));
      return;
    }
    const reason = known === undefined ? "nothing that a call has tried to store" : "other bytes";
    throw new Error(`snapshot ${digest}: it has ${reason}`);
  }

  /** Checks the generation that was attached: it must be as late as what was acknowledged before. */
  checkAttached(name: string, { number }: FoundGeneration, begun: number): void {
    for (const fact of this.#facts) {
      if (fact.name !== name || fact.ended > begun || fact.number <= number) continue;
      if (this.#mayBeGone(fact, ["remove"])) continue;
      throw new Error(`${name}: attached generation ${number} after ${fact.number} was saved`);
    }
  }

  /** Checks the generations of a disk, or undefined if there is no disk of this name. */
  checkDisk(name: string, found: readonly FoundGeneration[] | undefined): void {
    for (const fact of this.#facts) {
      if (fact.name !== name || this.#mayBeGone(fact, ["remove"])) continue;
      const { number, digest } = fact;
      if (found === undefined) throw new Error(`${name}: generation ${number} was saved; no disk`);
      const same = found.find((one) => one.number === number);
      if (same === undefined) {
        const isLast = found.every((one) => one.number < number);
        if (!isLast && this.#mayBeGone(fact, ["expire"])) continue;
        const numbers = found.map((one) => one.number).join(", ");
        throw new Error(`${name}: generation ${number} was saved, and is lost; found ${numbers}`);
      }
      if (digest !== undefined && same.digest !== digest) {
        throw new Error(`${name}: generation ${number} was saved as ${digest}, is ${same.digest}`);
      }
    }
  }

  #mayBeGone({ name, number, begun }: Fact, kinds: readonly Removal[]): boolean {
    return this.#doubts.some(
      (doubt) =>
        kinds.includes(doubt.kind) &&
        (doubt.name === undefined || doubt.name === name) &&
        (doubt.numbers === undefined || doubt.numbers.includes(number)) &&
        doubt.ended > begun,
    );
  }
}
