import { checkKnown, checkString, HedgerowError, typeName, wrongType } from "../error.js";
import { channelOf } from "../events.js";
import { canExist, isLookup, type PathLookup } from "./guard-paths.js";
import { isResponse, PathFilter, receiveFile } from "./path-filter.js";

/** Options of `PathFilterStore`. */
export interface PathFilterStoreOptions {
  /**
   * Limit of the total size of the stored filters, in bytes of their files. A filter takes about 2.5 kB in
   * addition to its file. A filter larger than the limit is used once and not stored. At most 65,536 filters are stored.
   */
  maxBytes: number;
  /**
   * Loads the paths of a key: a filter, a set, or a response with a filter file. The store owns the result
   * and frees it. An error rejects all queries that wait for the load; the next query loads again. A response with
   * status 404 or 410 means that the key has no filter: see `missingFor`. `signal` aborts when nothing waits for the
   * load any more, such as after a timeout: pass it to `fetch`.
   */
  load: (
    key: string,
    signal: AbortSignal,
  ) => Promise<PathLookup | Response> | PathLookup | Response;
  /**
   * How long a query waits for a load, in milliseconds. The query after a timeout loads again: in Workers, a
   * load stops silently when the request that started it ends. Above 2^31 − 1, it waits without limit. Default: `10_000`.
   */
  timeout?: number;
  /**
   * How long the store remembers that a key has no filter, in milliseconds. Queries are then rejected with
   * `ERR_FILTER_RESPONSE` without a load. It remembers the latest 10,000 such keys. Default: `60_000`.
   */
  missingFor?: number;
}

const DEFAULT_TIMEOUT = 10_000;
const DEFAULT_MISSING_FOR = 60_000;
/** Number of filters that are stored: sets may have no size. */
const MAX_STORED = 2 ** 16;
/** Number of keys without a filter that are remembered. */
const MAX_MISSING = 10_000;
/** Length of the longest such key, in characters. */
const MAX_MISSING_KEY_LENGTH = 256;
/** Statuses of responses that mean that a key has no filter. */
const MISSING_STATUSES = [404, 410];
/** Longest delay of a timer, in milliseconds; a longer timeout means none. */
const MAX_TIMEOUT = 2 ** 31 - 1;

/** A stored or loading lookup. */
interface Entry {
  /** A copy of the key: the caller's may be a slice of a longer string, and would keep all of it alive. */
  readonly key: string;
  /** Aborts the load when nothing waits for it. */
  readonly controller: AbortController;
  /** Set when loaded. */
  lookup?: PathLookup;
  /** Size counted towards the limit; 0 until it is stored. */
  bytes: number;
  /** Set from the start of the load. */
  loading?: Promise<PathLookup>;
  /** Number of queries that use the entry or wait for it. */
  users: number;
  /** Whether the store no longer holds it: it is freed when nothing uses it. */
  isRemoved: boolean;
  /** Whether the load ended with a response that means that there is no filter. */
  isMissing?: boolean;
  /** Time at which the load began, until its end is published. */
  begin?: number;
}

/** A key without a filter: the error of its load, and until when it is remembered. */
interface Missing {
  error: unknown;
  until: number;
}

/**
 * An LRU cache of the path filters of many deployments, bounded by their total size.
 *
 * Concurrent queries for a filter load it once. Evicting a filter releases its memory at once.
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
  /** In order of last use, the most recent last. */
  readonly #entries = new Map<string, Entry>();
  /** Keys without a filter, in the order in which they are forgotten. */
  readonly #missing = new Map<string, Missing>();
  readonly #loads = channelOf("hedgerow:edge:load");
  #bytes = 0;

  /**
   * @throws {HedgerowError} `ERR_ARGUMENT` if `maxBytes`, `timeout` or `missingFor` is not a number of at least 0,
   * `load` is not a function, or there is another option
   */
  constructor(options: PathFilterStoreOptions) {
    checkKnown(options, ["maxBytes", "load", "timeout", "missingFor"]);
    const { maxBytes, load, timeout = DEFAULT_TIMEOUT, missingFor = DEFAULT_MISSING_FOR } = options;
    for (const [name, value] of Object.entries({ maxBytes, timeout, missingFor })) {
      if (typeof value !== "number" || !(value >= 0)) {
        const found = typeof value === "number" ? value : typeName(value);
        const message = `${name}: expected a number of at least 0, found ${found}`;
        throw new HedgerowError("ERR_ARGUMENT", message);
      }
    }
    if (typeof load !== "function") throw wrongType("a function as load", load);
    this.#options = { ...options, maxBytes, load, timeout, missingFor };
  }

  /** Total size of the stored filters, in bytes of their files. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Number of filters stored or loading. */
  get size(): number {
    return this.#entries.size;
  }

  /**
   * Returns whether a path may exist in the deployment `key`, as the function `canExist` does.
   *
   * @returns a promise if the filter has to be loaded; rejected as that of {@link use}
   * @throws {HedgerowError} `ERR_ARGUMENT` if an argument is not a string
   */
  canExist(key: string, path: string): boolean | Promise<boolean> {
    return this.use(key, (lookup) => canExist(lookup, path));
  }

  /**
   * Calls `query` with the lookup of `key`: immediately if it is stored, otherwise after loading it. Do not
   * keep the lookup: the store may free it as soon as `query` returns, even if it returns a promise.
   *
   * @returns the result of `query`; a promise if the lookup had to be loaded, rejected with the error of
   * `load` or with `ERR_FILTER_TIMEOUT`, and with `ERR_FILTER_RESPONSE` while the store remembers that `key` has no
   * filter
   * @throws {HedgerowError} `ERR_ARGUMENT` if `key` is not a string or `query` is not a function
   */
  use<T>(key: string, query: (lookup: PathLookup) => T): T | Promise<T> {
    checkString("a key", key);
    if (typeof query !== "function") throw wrongType("a function as query", query);
    const missing = this.#missing.get(key);
    if (missing !== undefined) {
      if (performance.now() < missing.until) return Promise.reject(missing.error);
      this.#missing.delete(key);
    }
    const entry = this.#entries.get(key) ?? this.#load(key);
    this.#entries.delete(key);
    this.#entries.set(entry.key, entry);
    if (entry.lookup === undefined) return this.#wait(entry, query);
    entry.users += 1;
    try {
      return query(entry.lookup);
    } finally {
      entry.users -= 1;
      release(entry);
    }
  }

  /** Removes the lookup of `key`, or forgets that it has none. The next query loads it again. */
  delete(key: string): void {
    checkString("a key", key);
    this.#missing.delete(key);
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#remove(entry);
  }

  /** Removes all lookups, and forgets which keys have none. */
  clear(): void {
    this.#missing.clear();
    for (const entry of this.#entries.values()) this.#remove(entry);
  }

  #load(key: string): Entry {
    const entry: Entry = {
      key: structuredClone(key),
      controller: new AbortController(),
      bytes: 0,
      users: 0,
      isRemoved: false,
      begin: performance.now(),
    };
    entry.loading = this.#fetch(entry).then(
      (lookup) => {
        this.#publish(entry);
        entry.lookup = lookup;
        if (!entry.isRemoved) this.#store(entry, lookup.byteLength);
        release(entry);
        return lookup;
      },
      (error) => {
        this.#publish(entry, error ?? null);
        if (entry.isMissing && !entry.isRemoved) this.#remember(entry.key, error);
        this.#forget(entry);
        throw error;
      },
    );
    return entry;
  }

  /** Publishes the end of a load once. */
  #publish(entry: Entry, error?: unknown): void {
    if (!this.#loads?.hasSubscribers || entry.begin === undefined) return;
    this.#loads.publish({ key: entry.key, duration: performance.now() - entry.begin, error });
    delete entry.begin;
  }

  /** Remembers that a key has no filter, and forgets the oldest such key if there are too many. */
  #remember(key: string, error: unknown): void {
    if (key.length > MAX_MISSING_KEY_LENGTH) return;
    this.#missing.set(key, { error, until: performance.now() + this.#options.missingFor });
    const [oldest] = this.#missing.keys();
    if (this.#missing.size > MAX_MISSING) this.#missing.delete(oldest!);
  }

  async #fetch(entry: Entry): Promise<PathLookup> {
    const { signal } = entry.controller;
    const loaded = await this.#options.load(entry.key, signal);
    const isFile = isResponse(loaded);
    entry.isMissing = isFile && MISSING_STATUSES.includes(loaded.status);
    const lookup = isFile ? new PathFilter(await receiveFile(loaded, signal)) : loaded;
    if (!isLookup(lookup) || !(lookup.byteLength >= 0)) {
      const message = `load: expected a filter, a set or a response, found ${typeName(lookup)}`;
      throw new HedgerowError("ERR_ARGUMENT", message);
    }
    return lookup;
  }

  async #wait<T>(entry: Entry, query: (lookup: PathLookup) => T): Promise<T> {
    const { timeout } = this.#options;
    entry.users += 1;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timedOut = new Promise<never>((_, reject) => {
      if (timeout > MAX_TIMEOUT) return;
      timer = setTimeout(() => {
        this.#forget(entry);
        const message = `paths of ${JSON.stringify(entry.key)} were not loaded within ${timeout} ms`;
        const error = new HedgerowError("ERR_FILTER_TIMEOUT", message);
        this.#publish(entry, error);
        reject(error);
      }, timeout);
    });
    try {
      return query(await Promise.race([entry.loading!, timedOut]));
    } finally {
      clearTimeout(timer);
      entry.users -= 1;
      release(entry);
    }
  }

  /** Stores a loaded entry and evicts the least recently used ones until all fit within the limit. */
  #store(entry: Entry, bytes: number): void {
    const { maxBytes } = this.#options;
    if (bytes > maxBytes) {
      this.#forget(entry);
      return;
    }
    entry.bytes = bytes;
    this.#bytes += bytes;
    for (const other of this.#entries.values()) {
      if (this.#bytes <= maxBytes && this.#entries.size <= MAX_STORED) return;
      if (other.lookup !== undefined) this.#remove(other);
    }
  }

  #remove(entry: Entry): void {
    this.#forget(entry);
    this.#bytes -= entry.bytes;
    release(entry);
  }

  /** Removes an entry from the map, unless another has taken its place. */
  #forget(entry: Entry): void {
    entry.isRemoved = true;
    if (this.#entries.get(entry.key) === entry) this.#entries.delete(entry.key);
  }
}

/** Frees the lookup of a removed entry once nothing uses it, or aborts its load once nothing waits for it. */
function release(entry: Entry): void {
  if (!entry.isRemoved || entry.users > 0) return;
  const { lookup } = entry;
  delete entry.lookup;
  try {
    if (lookup === undefined) entry.controller.abort();
    else lookup.free();
  } catch {
    // An error from a caller's lookup must not fail unrelated queries. Nor must an error from workerd, which may refuse
    // to abort a load that another request began.
  }
}
