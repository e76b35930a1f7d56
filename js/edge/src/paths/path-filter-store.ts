import { checkString, found, HedgerowError, isOptions, wrongType } from "../error.js";
import { PathFilter } from "./path-filter.js";
import { canExist, isLookup, type PathLookup } from "./path-lookup.js";

/** What a store is made with. */
export interface PathFilterStoreOptions {
  /**
   * How many bytes the files of filters may have together; each filter takes about 1.3 kB beside its
   * file. One that is larger alone is used, and not kept.
   */
  maxBytes: number;
  /**
   * Gets what belongs to a key: a filter, a set, or a response whose body is the file of a filter.
   * The store owns it then, and frees it. What this throws goes to all who asked; the next one who
   * asks makes it be called again.
   */
  load: (key: string) => Promise<PathLookup | Response> | PathLookup | Response;
  /**
   * How long one who asks waits for a load, in milliseconds (default: 10,000). Then the next one makes
   * it be called again: in Workers, a load ends without a word when the request that began it does.
   */
  timeout?: number;
}

const DEFAULT_TIMEOUT = 10_000;
/** The longest time that a timer takes; more is without an end. */
const LONGEST_TIMEOUT = 2 ** 31 - 1;

/** What the store has, or is about to have, under a key. */
interface Entry {
  /** Once it is loaded. */
  lookup?: PathLookup;
  /** What it counts for. */
  bytes: number;
  /** While it is loaded. */
  loading?: Promise<PathLookup>;
  /** How many ask it, or wait for it to be loaded. */
  waiting: number;
  /** Whether the store has let it go. */
  isGone: boolean;
}

/**
 * The filters of many deployments, of which those that were used last stay in memory.
 *
 * However many ask for a filter at once, it is loaded once. The memory of a filter that goes is given
 * back at once, for the next one.
 *
 * @example
 * ```ts
 * import { buildPathFilter, PathFilterStore } from "hedgerow";
 *
 * const file = buildPathFilter(["/about"]);
 * const store = new PathFilterStore({
 *   maxBytes: 64 * 2 ** 20,
 *   load: async (deployment) => new Response(file),
 * });
 * await store.canExist("dpl_7", "/about"); // true
 * ```
 */
export class PathFilterStore {
  readonly #options: Required<PathFilterStoreOptions>;
  /** The one that was used last is the last one. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  /**
   * @throws {HedgerowError} `ERR_ARGUMENT` for a bound or a time that is not a number from 0 on, and for a
   * `load` that is not a function
   */
  constructor(options: PathFilterStoreOptions) {
    if (!isOptions(options)) throw wrongType("options", options);
    const { maxBytes, load, timeout = DEFAULT_TIMEOUT } = options;
    for (const [name, value] of Object.entries({ maxBytes, timeout })) {
      if (typeof value !== "number" || !(value >= 0)) {
        const what = typeof value === "number" ? value : found(value);
        const message = `${name}: expected a number from 0 on, found ${what}`;
        throw new HedgerowError("ERR_ARGUMENT", message);
      }
    }
    if (typeof load !== "function") throw wrongType("a function as load", load);
    this.#options = { ...options, maxBytes, load, timeout };
  }

  /** How many bytes the filters take that the store holds. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many filters the store holds or loads. */
  get size(): number {
    return this.#entries.size;
  }

  /** Whether a path may exist in what belongs to `key`, as `canExist` says. */
  canExist(key: string, path: string): boolean | Promise<boolean> {
    return this.use(key, (lookup) => canExist(lookup, path));
  }

  /**
   * Calls `ask` with what belongs to `key`: at once if the store has it, else when it is loaded. It
   * must not be kept: the store may free it as soon as `ask` has returned, also if that is a promise.
   *
   * @throws {HedgerowError} `ERR_ARGUMENT` for a key that is not a string, or an `ask` that is not a function
   * @returns what `ask` returns, as a promise if it had to be loaded. It is rejected with what
   * loading throws, or with `ERR_FILTER_TIMEOUT`.
   */
  use<T>(key: string, ask: (lookup: PathLookup) => T): T | Promise<T> {
    checkString("a key", key);
    if (typeof ask !== "function") throw wrongType("a function to ask with", ask);
    const entry = this.#entries.get(key) ?? this.#load(key);
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    if (entry.lookup === undefined) return this.#wait(key, entry, ask);
    entry.waiting += 1;
    try {
      return ask(entry.lookup);
    } finally {
      entry.waiting -= 1;
      release(entry);
    }
  }

  /** Lets go of what belongs to `key`: the next one who asks makes it be loaded again. */
  delete(key: string): void {
    checkString("a key", key);
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#remove(key, entry);
  }

  /** Lets go of everything. */
  clear(): void {
    for (const [key, entry] of [...this.#entries]) this.#remove(key, entry);
  }

  #load(key: string): Entry {
    const entry: Entry = { bytes: 0, waiting: 0, isGone: false };
    entry.loading = this.#fetch(key).then(
      (lookup) => {
        entry.lookup = lookup;
        if (!entry.isGone) this.#keep(key, entry, lookup.byteLength);
        release(entry);
        return lookup;
      },
      (error) => {
        this.#forget(key, entry);
        throw error;
      },
    );
    return entry;
  }

  async #fetch(key: string): Promise<PathLookup> {
    const loaded = await this.#options.load(key);
    const lookup = loaded instanceof Response ? await PathFilter.load(loaded) : loaded;
    if (!isLookup(lookup) || !(lookup.byteLength >= 0)) {
      const message = `load: expected a filter, a set or a response, found ${found(lookup)}`;
      throw new HedgerowError("ERR_ARGUMENT", message);
    }
    return lookup;
  }

  async #wait<T>(key: string, entry: Entry, ask: (lookup: PathLookup) => T): Promise<T> {
    const { timeout } = this.#options;
    entry.waiting += 1;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      if (timeout > LONGEST_TIMEOUT) return;
      timer = setTimeout(() => {
        this.#forget(key, entry);
        const message = `paths of ${JSON.stringify(key)} were not loaded within ${timeout} ms`;
        reject(new HedgerowError("ERR_FILTER_TIMEOUT", message));
      }, timeout);
    });
    try {
      return ask(await Promise.race([entry.loading!, late]));
    } finally {
      clearTimeout(timer);
      entry.waiting -= 1;
      release(entry);
    }
  }

  /**
   * Counts what was loaded, and lets go of what was not used for longest until all is within the
   * bound. What is beyond it alone goes alone.
   */
  #keep(key: string, entry: Entry, bytes: number): void {
    if (bytes > this.#options.maxBytes) {
      this.#forget(key, entry);
      return;
    }
    entry.bytes = bytes;
    this.#bytes += bytes;
    for (const [other, { lookup }] of [...this.#entries]) {
      if (this.#bytes <= this.#options.maxBytes) return;
      if (lookup !== undefined) this.delete(other);
    }
  }

  #remove(key: string, entry: Entry): void {
    this.#forget(key, entry);
    this.#bytes -= entry.bytes;
    release(entry);
  }

  /** Takes an entry out, unless another one has taken its place. */
  #forget(key: string, entry: Entry): void {
    entry.isGone = true;
    if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }
}

/** Frees what the store has let go of, when the last one who asks it is answered. */
function release(entry: Entry): void {
  if (!entry.isGone || entry.waiting > 0) return;
  const { lookup } = entry;
  delete entry.lookup;
  try {
    lookup?.free();
  } catch {
    // The filters of this package do not throw; whose do must not fail those who ask others.
  }
}
