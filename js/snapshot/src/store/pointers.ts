/** Reads and writes the pointers of a store, many at a time. */
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { SnapshotError } from "../error.js";
import type { StoredObject } from "../services/object-service.js";
import type { StoreObjects } from "./objects.js";
import { MAX_POINTER_LENGTH, type Pointer, parsePointer, serialisePointer } from "./pointer.js";

/** The folder of the pointers. */
const FOLDER = "disks/";

/** The number of pointers that are read or written at a time. */
export const POINTERS_AT_A_TIME = 32;

/** The number of retries of a change of a pointer. */
const MAX_TRIES = 50;

/** The longest pause between them, in milliseconds. */
const MAX_PAUSE = 200;

/** A pointer, as it was read or written last. */
export interface KnownPointer {
  readonly pointer: Pointer;
  readonly tag: string;
  /** When it was written, by the clock of the store; undefined if this process wrote it. */
  readonly modified: number | undefined;
}

/** The maximum number of pointers that are remembered. */
const MAX_REMEMBERED = 1_000;

/** The maximum length of a pointer that is remembered, in bytes. */
const MAX_REMEMBERED_LENGTH = 2 ** 16;

/** The pointers of a store. Each change is one conditional write. */
export class Pointers {
  /** Pointers that this process wrote last, the latest one last. */
  readonly #remembered = new Map<string, KnownPointer>();

  constructor(readonly objects: StoreObjects) {}

  /** Returns the pointer of a disk as this process wrote it, which may have changed since. */
  remembered(name: string): KnownPointer | undefined {
    return this.#remembered.get(name);
  }

  /** Returns the pointer of a disk. @throws {SnapshotError} `ERR_NO_DISK`, `ERR_STORE` */
  async read(name: string, signal?: AbortSignal): Promise<KnownPointer> {
    const known = await this.find(name, signal);
    if (known !== undefined) return known;
    throw new SnapshotError("ERR_NO_DISK", `${this.objects.name}: no disk has the name ${name}`);
  }

  /** Returns the pointer of a disk, or undefined if there is none. @throws {SnapshotError} `ERR_STORE` */
  async find(name: string, signal?: AbortSignal): Promise<KnownPointer | undefined> {
    const found = await this.objects.read(keyOf(name), MAX_POINTER_LENGTH, signal);
    return found && this.#parsed(name, found);
  }

  /** Writes the pointer of a new disk. @throws {SnapshotError} `ERR_DISK_EXISTS`, `ERR_STORE` */
  async create(name: string, pointer: Pointer, signal?: AbortSignal): Promise<KnownPointer> {
    const bytes = this.#bytes(name, pointer);
    const { tag } = await this.objects.write(keyOf(name), bytes, undefined, signal);
    if (tag !== undefined) return this.#written(name, pointer, tag, bytes.length);
    const message = `${this.objects.name}: a disk has the name ${name}`;
    throw new SnapshotError("ERR_DISK_EXISTS", message);
  }

  /**
   * Changes a pointer. If others change it at the same time, it is read again.
   *
   * @param known the pointer as it was read or written last. Default: it is read first
   * @param change returns the new pointer, or undefined to leave it; or throws
   * @throws {SnapshotError} `ERR_NO_DISK`, `ERR_STORE`, and what `change` throws
   */
  async update(
    name: string,
    change: (known: KnownPointer) => Pointer | undefined | Promise<Pointer | undefined>,
    {
      known,
      signal,
    }: { readonly known?: KnownPointer | undefined; signal?: AbortSignal | undefined } = {},
  ): Promise<KnownPointer> {
    let next = known;
    for (let tries = 0; ; tries += 1) {
      const current = next ?? (await this.read(name, signal));
      const pointer = await change(current);
      if (pointer === undefined) return current;
      const bytes = this.#bytes(name, pointer);
      const { tag, found } = await this.objects.write(keyOf(name), bytes, current.tag, signal);
      if (tag !== undefined) return this.#written(name, pointer, tag, bytes.length);
      if (tries === MAX_TRIES) {
        const message = `${this.objects.name}: others keep changing the disk ${name}; try again`;
        throw new SnapshotError("ERR_STORE", message);
      }
      // After a pause, what was found is too old.
      next = tries === 0 ? found && this.#parsed(name, found) : undefined;
      if (tries > 0)
        await sleep(Math.random() * Math.min(MAX_PAUSE, 2 ** tries), undefined, { signal });
    }
  }

  /** Removes the pointer of a disk, if it is still the known one. */
  remove(name: string, { tag }: KnownPointer): Promise<boolean> {
    this.#remembered.delete(name);
    return this.objects.remove(keyOf(name), tag);
  }

  /** Yields the names of disks, in order. */
  async *names(
    {
      prefix = "",
      after,
    }: { readonly prefix?: string | undefined; readonly after?: string | undefined } = {},
    signal?: AbortSignal,
  ): AsyncGenerator<string> {
    const afterKey = after === undefined ? undefined : keyOf(after);
    for await (const { key } of this.objects.list(keyOf(prefix), afterKey, signal))
      yield key.slice(FOLDER.length);
  }

  /** Calls `use` with the pointer of each disk, several at a time, in no order. @throws {SnapshotError} `ERR_STORE` */
  each(use: (name: string, pointer: Pointer) => void, signal?: AbortSignal): Promise<void> {
    return eachOf(this.names({}, signal), POINTERS_AT_A_TIME, async (name) => {
      const known = await this.find(name, signal);
      // It may have been removed since it was listed.
      if (known !== undefined) use(name, known.pointer);
    });
  }

  #parsed(name: string, { bytes, tag, modified }: StoredObject): KnownPointer {
    return { pointer: parsePointer(`${this.objects.name}/${keyOf(name)}`, bytes), tag, modified };
  }

  #written(name: string, pointer: Pointer, tag: string, length: number): KnownPointer {
    const known = { pointer, tag, modified: undefined };
    this.#remembered.delete(name);
    if (length <= MAX_REMEMBERED_LENGTH) this.#remembered.set(name, known);
    const [oldest] = this.#remembered.keys();
    if (this.#remembered.size > MAX_REMEMBERED) this.#remembered.delete(oldest as string);
    return known;
  }

  #bytes(name: string, pointer: Pointer): Buffer {
    const bytes = serialisePointer(pointer);
    if (bytes.length > MAX_POINTER_LENGTH) {
      const message = `${name}: expected a pointer of at most ${MAX_POINTER_LENGTH} bytes, found ${bytes.length}; expire some generations`;
      throw new SnapshotError("ERR_STORE", message);
    }
    // No host could read a pointer that is not valid, nor remove its disk.
    parsePointer(name, bytes);
    return bytes;
  }
}

function keyOf(name: string): string {
  return `${FOLDER}${name}`;
}

/** Calls `use` with each item, several at a time. Rejects with the first error, when all calls have ended. */
export async function eachOf<T>(
  items: AsyncIterable<T> | Iterable<T>,
  concurrency: number,
  use: (item: T) => Promise<void>,
): Promise<void> {
  const iterator =
    Symbol.asyncIterator in items ? items[Symbol.asyncIterator]() : items[Symbol.iterator]();
  let isEnded = false;
  /** Generators answer one call after the other. */
  const run = async () => {
    while (!isEnded) {
      const next = await iterator.next();
      if (next.done === true) return;
      await use(next.value);
    }
  };
  const ends = await Promise.allSettled(
    Array.from({ length: concurrency }, () =>
      run().catch((error: unknown) => {
        isEnded = true;
        throw error;
      }),
    ),
  );
  await iterator.return?.();
  for (const end of ends) if (end.status === "rejected") throw end.reason;
}

/** Returns a signal that follows another one, and that any number of requests may listen to. */
export function forMany(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined) return undefined;
  const following = AbortSignal.any([signal]);
  setMaxListeners(0, following);
  return following;
}
