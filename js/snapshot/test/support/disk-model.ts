/** What a disk should contain, and random changes of it. */
import { noise } from "../../../../tests/support/snapshots/image.js";
import type { Random } from "../../../edge/test/support/random.js";
import { NBD, type NbdClient } from "./nbd-client.js";

export const BLOCK = 2 ** 12;
const { cmd, flag } = NBD;

/** A request to a disk. */
interface Operation {
  readonly kind: "read" | "write" | "zeroes" | "trim" | "flush" | "cache";
  readonly start: number;
  readonly end: number;
  readonly flags: number;
  readonly data: Buffer;
}

/** The content of a disk, and of each block what it had since it was flushed. */
export class DiskModel {
  readonly #random: Random;
  /** The contents that a block may have after a kill, by its number. Others have what they have now. */
  readonly #history = new Map<number, Buffer[]>();

  constructor(
    readonly image: Buffer,
    random: Random,
  ) {
    this.#random = random;
  }

  /**
   * Sends requests at the same time, and checks the replies. Of two, one is never told to write where another one does.
   * If the connections are closed meanwhile, requests may or may not have been carried out.
   *
   * @param canBeKilled whether they may be
   */
  async change(clients: readonly NbdClient[], canBeKilled: boolean): Promise<void> {
    const operations: Operation[] = [];
    for (let left = 1 + this.#random.below(6); left > 0; left -= 1) {
      const next = this.#operation();
      const isFree = operations.every(
        (other) => !isWrite(other) || !isWrite(next) || !areNear(next, other, canBeKilled),
      );
      if (isFree) operations.push(next);
    }
    const before = new Map(
      operations
        .filter(({ kind }) => kind === "read")
        .map((read) => [read, Buffer.from(this.image.subarray(read.start, read.end))]),
    );
    const flushed = [...this.#history].map(([block, all]) => [block, all.at(-1)] as const);
    for (const operation of operations) if (isWrite(operation)) this.#apply(operation, canBeKilled);
    await Promise.all(
      operations.map(async (operation) => {
        const client = clients[this.#random.below(clients.length)] as NbdClient;
        const { start, end, flags, data, kind } = operation;
        const request = { type: TYPES[kind], offset: start, length: end - start, flags, data };
        const reply = await client.request(request);
        if (reply.errno !== 0)
          throw new Error(`${kind} of [${start}, ${end}): error ${reply.errno}`);
        const read = before.get(operation);
        if (read !== undefined) this.#check(reply.data, operation, read, operations);
        if (kind === "flush") {
          for (const [block, content] of flushed) this.#forgetBefore(block, content as Buffer);
        }
        if ((flags & flag.fua) !== 0 && isWrite(operation)) {
          for (const block of blocksOf(operation)) this.#history.delete(block);
        }
      }),
    );
  }

  /** Takes what a disk has after a kill, if that is possible. */
  adopt(found: Buffer): void {
    for (let at = 0; at < found.length; at += BLOCK) {
      const block = found.subarray(at, at + BLOCK);
      const allowed = this.#history.get(at / BLOCK) ?? [this.image.subarray(at, at + BLOCK)];
      if (allowed.some((one) => one.equals(block))) continue;
      const wrong = allowed.map((one) => differenceOf(block, one));
      throw new Error(`block ${at / BLOCK}: expected one of ${wrong.length}, ${wrong.join("; ")}`);
    }
    found.copy(this.image);
    this.#history.clear();
  }

  /** Forgets what a block had before a content that is durable. */
  #forgetBefore(block: number, content: Buffer): void {
    const contents = this.#history.get(block) ?? [];
    contents.splice(0, Math.max(0, contents.indexOf(content)));
  }

  #operation(): Operation {
    const random = this.#random;
    const kinds = ["read", "read", "read", "write", "write", "write", "zeroes", "trim", "flush"];
    const kind = random.pick([...kinds, "cache"]) as Operation["kind"];
    const size = this.image.length;
    const unit = [1, 512, BLOCK][random.below(3)] as number;
    const start = Math.floor(random.below(size) / unit) * unit;
    const longest = [unit, 3 * BLOCK, 2 ** 18][random.below(3)] as number;
    const length = Math.max(unit, Math.floor((1 + random.below(longest)) / unit) * unit);
    const end = kind === "flush" ? start : Math.min(size, start + length);
    const canFua = ["write", "zeroes", "trim"].includes(kind) && random.below(8) === 0;
    const noHole = kind === "zeroes" && random.below(2) === 0;
    const data = kind === "write" ? this.#bytes(end - start) : Buffer.alloc(0);
    const flags = (canFua ? flag.fua : 0) | (noHole ? flag.noHole : 0);
    return {
      kind,
      start: kind === "flush" ? 0 : start,
      end: kind === "flush" ? 0 : end,
      flags,
      data,
    };
  }

  #bytes(length: number): Buffer {
    const seed = this.#random.below(2 ** 31);
    return seed % 5 === 0 ? Buffer.alloc(length) : noise(`${seed}`, length);
  }

  /** Changes the content, and remembers what it was if a kill may bring that back. */
  #apply(operation: Operation, canBeKilled: boolean): void {
    const { kind, start, end, data } = operation;
    const blocks = canBeKilled ? blocksOf(operation) : [];
    const remember = (block: number) => {
      const contents = this.#history.get(block) ?? [];
      contents.push(Buffer.from(this.image.subarray(block * BLOCK, (block + 1) * BLOCK)));
      this.#history.set(block, contents);
    };
    for (const block of blocks) if (!this.#history.has(block)) remember(block);
    if (kind === "write") data.copy(this.image, start);
    if (kind === "zeroes") this.image.fill(0, start, end);
    if (kind === "trim") {
      // Only whole blocks are discarded.
      const last = end === this.image.length ? end : end - (end % BLOCK);
      const first = Math.ceil(start / BLOCK) * BLOCK;
      if (first < last) this.image.fill(0, first, last);
    }
    for (const block of blocks) remember(block);
  }

  /** Checks what was read: bytes that were being written are as `before` or after. */
  #check(
    found: Buffer,
    { start, end }: Operation,
    before: Buffer,
    all: readonly Operation[],
  ): void {
    if (found.equals(this.image.subarray(start, end))) return;
    const isChanging = (at: number) =>
      all.some((one) => isWrite(one) && at >= one.start && at < one.end);
    for (let at = start; at < end; at += 1) {
      const byte = found[at - start];
      if (byte === this.image[at] || (byte === before[at - start] && isChanging(at))) continue;
      throw new Error(
        `read [${start}, ${end}): expected ${this.image[at]} at ${at}, found ${byte}`,
      );
    }
  }
}

const TYPES = {
  ...{ read: cmd.read, write: cmd.write, zeroes: cmd.zeroes, trim: cmd.trim, flush: cmd.flush },
  cache: cmd.cache,
} as const;

function isWrite({ kind }: Operation): boolean {
  return kind === "write" || kind === "zeroes" || kind === "trim";
}

function blocksOf({ start, end }: Operation): number[] {
  const first = Math.floor(start / BLOCK);
  return Array.from({ length: Math.ceil(end / BLOCK) - first }, (_, at) => first + at);
}

/** Returns whether two requests overlap, or touch the same block if that counts. */
function areNear(one: Operation, other: Operation, byBlock: boolean): boolean {
  const unit = byBlock ? BLOCK : 1;
  const near = (a: Operation, b: Operation) =>
    Math.floor(a.start / unit) * unit < Math.ceil(b.end / unit) * unit;
  return near(one, other) && near(other, one);
}

/** Describes where a block differs from an expected one. */
function differenceOf(found: Buffer, expected: Buffer): string {
  const wrong = [...found.keys()].filter((at) => found[at] !== expected[at]);
  const [first = 0, last = 0] = [wrong[0], wrong.at(-1)];
  const [is, was] = [found, expected].map((bytes) =>
    bytes.subarray(first, Math.min(last + 1, first + 8)).toString("hex"),
  );
  return `bytes ${first} to ${last} are ${is}… and not ${was}…`;
}
