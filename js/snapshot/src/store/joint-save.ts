/** Saves several volumes together: they are copied at one moment, and all of them are saved or none. */
import { setMaxListeners } from "node:events";
import type { EncodingOptions } from "../encode/snapshot-encoder.js";
import type { TransferOptions } from "../http/transfer.js";
import type { WorkOptions } from "../workers/pool.js";
import { type Hooks, whileFrozen } from "./hooks.js";
import type { StoredSnapshot } from "./snapshots.js";

/** The options of the work of a save. */
export interface SaveWork extends WorkOptions, TransferOptions, Pick<EncodingOptions, "level"> {}

/** The snapshots of the volumes that have changed, by name. That of the disk itself has the name "". */
export type SavedVolumes = ReadonlyMap<string, StoredSnapshot>;

/** A step that runs when all participants have arrived. */
class Meeting<Item> {
  readonly #items: Item[] = [];
  readonly #held: Promise<void>;
  #settle:
    | { resolve: (value: Promise<void>) => void; reject: (error: unknown) => void }
    | undefined;

  constructor(
    private readonly count: number,
    private readonly hold: (items: readonly Item[]) => Promise<void>,
  ) {
    this.#held = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    // Nobody may arrive before it fails.
    this.#held.catch(() => {});
  }

  /** Arrives, and waits for the step. */
  arrive(item: Item): Promise<void> {
    this.#items.push(item);
    if (this.#items.length === this.count) this.#settle?.resolve(this.hold(this.#items));
    return this.#held;
  }

  /** Has no effect when all have arrived. */
  fail(error: unknown): void {
    if (this.#items.length < this.count) this.#settle?.reject(error);
  }
}

/** A save of several volumes. */
export class JointSave {
  readonly #copying: Meeting<() => Promise<unknown>>;
  readonly #publishing: Meeting<readonly [string, StoredSnapshot] | undefined>;
  readonly #failed = new AbortController();
  /** Aborted when one of the volumes cannot be saved. */
  readonly signal: AbortSignal;

  /**
   * @param count the number of volumes
   * @param commit saves those that have changed
   */
  constructor(
    count: number,
    hooks: Hooks,
    commit: (saved: SavedVolumes) => Promise<void>,
    signal: AbortSignal | undefined,
  ) {
    const { signal: failed } = this.#failed;
    this.signal = signal === undefined ? failed : AbortSignal.any([signal, failed]);
    // Each volume listens to it several times.
    setMaxListeners(0, this.signal);
    this.#copying = new Meeting(count, (copies) =>
      whileFrozen(hooks, () => settled(copies.map((copy) => copy())), this.signal),
    );
    this.#publishing = new Meeting(count, (items) =>
      commit(new Map(items.filter((item) => item !== undefined))),
    );
  }

  /** Runs the saves of all volumes. Rejects with the first error, when all have ended. */
  async run<T>(saves: readonly (() => Promise<T>)[]): Promise<T[]> {
    let first: { readonly error: unknown } | undefined;
    const running = saves.map((save) =>
      save().catch((error: unknown) => {
        first ??= { error };
        this.#copying.fail(error);
        this.#publishing.fail(error);
        this.#failed.abort(error);
        throw error;
      }),
    );
    const ends = await Promise.allSettled(running);
    if (first !== undefined) throw first.error;
    return ends.map((end) => (end as PromiseFulfilledResult<T>).value);
  }

  /** Copies a volume while the programs that use any of them are frozen. */
  async copy<T>(copy: () => Promise<T>): Promise<T> {
    let result: T | undefined;
    await this.#copying.arrive(async () => {
      result = await copy();
    });
    return result as T;
  }

  /** Notes the snapshot of a volume, which is in the store. Resolves when all volumes are saved. */
  publish(volume: string, stored: StoredSnapshot): Promise<void> {
    return this.#publishing.arrive([volume, stored]);
  }

  /** Notes that a volume has not changed. Resolves when all others are saved. */
  unchanged(): Promise<void> {
    return this.#publishing.arrive(undefined);
  }
}

/** Waits for all copies, even if one fails: programs must not run before. */
async function settled(copies: readonly Promise<unknown>[]): Promise<void> {
  for (const end of await Promise.allSettled(copies))
    if (end.status === "rejected") throw end.reason;
}
