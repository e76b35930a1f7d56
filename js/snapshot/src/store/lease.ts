/** Leases: the right to save a disk, which one host at a time has. */
import { setTimeout as sleep } from "node:timers/promises";

import { SnapshotError } from "../error.js";
import { emit } from "../events.js";
import { Turns } from "../local/locks.js";
import type { Hold } from "./objects.js";
import { headOf, type Pointer, type PointerLease } from "./pointer.js";
import type { KnownPointer, Pointers } from "./pointers.js";

/** A disk to attach. */
export interface LeaseRequest {
  readonly name: string;
  readonly token: string;
  readonly owner: string;
  /** In milliseconds. */
  readonly duration: number;
  /** Whether to take it from another host. */
  readonly steal: boolean;
  readonly signal: AbortSignal | undefined;
}

/** Returns whether a disk has a lease that has not ended. */
export async function isAttached(
  { objects }: Pointers,
  { pointer: { lease }, modified }: KnownPointer,
): Promise<boolean> {
  if (lease === null) return false;
  if (!objects.leasesExpire) return objects.isHeld(lease.token);
  // Only the clock of the store counts: those of hosts may be wrong.
  const age = modified === undefined ? 0 : (await objects.now()) - modified;
  return lease.elapsed + age < lease.duration;
}

/** Throws if a disk is attached. @throws {SnapshotError} `ERR_ATTACHED` */
export async function checkDetached(
  pointers: Pointers,
  name: string,
  known: KnownPointer,
  hint: string,
): Promise<void> {
  if (!(await isAttached(pointers, known))) return;
  const { owner } = known.pointer.lease as PointerLease;
  const message = `${name} is attached by ${owner}; ${hint}`;
  throw new SnapshotError("ERR_ATTACHED", message);
}

/** Returns the lease of a pointer for a write by another host, which must not extend it. */
export async function agedLease(
  { objects }: Pointers,
  { pointer: { lease }, modified }: KnownPointer,
): Promise<PointerLease | null> {
  if (lease === null || modified === undefined) return lease;
  const age = Math.max(0, Math.round((await objects.now()) - modified));
  return { ...lease, elapsed: lease.elapsed + age };
}

/** The lease of a disk that this process has attached. It is renewed until it is released or lost. */
export class Lease {
  readonly #pointers: Pointers;
  readonly #request: LeaseRequest;
  readonly #hold: Hold;
  #known: KnownPointer;
  /** Pointers without a lease that this process may have written: the response was lost. */
  readonly #unknown: Pointer[] = [];
  readonly #ended = new AbortController();
  readonly #lost = new AbortController();
  readonly #turns = new Turns();

  private constructor(pointers: Pointers, request: LeaseRequest, hold: Hold, known: KnownPointer) {
    this.#pointers = pointers;
    this.#request = request;
    this.#hold = hold;
    this.#known = known;
    void this.#renew();
  }

  /**
   * Takes the lease of a disk.
   *
   * @param known its pointer, which may be outdated
   * @throws {SnapshotError} `ERR_ATTACHED`, `ERR_NO_DISK`, `ERR_STORE`
   */
  static async take(
    pointers: Pointers,
    request: LeaseRequest,
    known: KnownPointer,
  ): Promise<Lease> {
    const { name, token, owner, duration, steal, signal } = request;
    const hold = await pointers.objects.hold(token);
    try {
      const hint = "wait until it is detached, or pass steal: true to take it";
      const take = async (current: KnownPointer): Promise<Pointer> => {
        if (!steal) await checkDetached(pointers, name, current, hint);
        const { pointer } = current;
        const generation = headOf(pointer).number;
        const lease = { token, owner, duration, elapsed: 0, generation };
        return { ...pointer, epoch: pointer.epoch + 1, lease };
      };
      const taken = await pointers.update(name, take, { known, signal });
      return new Lease(pointers, request, hold, taken);
    } catch (error) {
      await hold.release();
      throw error;
    }
  }

  /** The pointer as this process wrote it last. */
  get pointer(): Pointer {
    return this.#known.pointer;
  }

  /** Aborted when the lease is lost, with the error of a save. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /**
   * Changes the pointer, if the lease was not lost. Calls wait for each other.
   *
   * @throws {SnapshotError} `ERR_LEASE_LOST`, `ERR_STORE`
   */
  commit(change: (pointer: Pointer) => Pointer): Promise<void> {
    return this.#turns.run(async () => {
      this.lost.throwIfAborted();
      this.#known = await this.#update((pointer) => change(pointer));
    });
  }

  /** Ends the lease, together with a last change of the pointer. @throws {SnapshotError} as {@link commit} */
  async release(change: (pointer: Pointer) => Pointer = (pointer) => pointer): Promise<void> {
    await this.#turns.run(async () => {
      this.lost.throwIfAborted();
      this.#known = await this.#update((pointer) => {
        const released = { ...change(pointer), lease: null };
        this.#unknown.push(released);
        return released;
      });
      this.#ended.abort();
    });
    await this.#hold.release();
  }

  /** Stops renewing the lease, without changing the pointer. */
  async abandon(): Promise<void> {
    this.#ended.abort();
    await this.#turns.settled();
    await this.#hold.release();
  }

  async #renew(): Promise<void> {
    const interval = this.#request.duration / 3;
    const { signal } = this.#ended;
    while (!signal.aborted && !this.lost.aborted) {
      await sleep(interval, undefined, { signal, ref: false }).catch(() => {});
      if (signal.aborted) return;
      await this.#turns
        .run(async () => {
          if (signal.aborted || this.lost.aborted) return;
          const { leasesExpire } = this.#pointers.objects;
          // If the kernel knows whether this process runs, the pointer only tells whether the disk was stolen.
          if (leasesExpire) this.#known = await this.#update((pointer) => pointer, signal);
          else this.#check(await this.#pointers.find(this.#request.name));
        })
        .catch(() => {
          // The next attempt may succeed. If another host has taken the disk, `lost` is aborted already.
        });
    }
  }

  async #update(
    change: (pointer: Pointer) => Pointer,
    signal?: AbortSignal,
  ): Promise<KnownPointer> {
    const { name } = this.#request;
    const own = (known: KnownPointer) => {
      const lease = this.#check(known);
      return change({ ...known.pointer, lease: { ...lease, elapsed: 0 } });
    };
    try {
      return await this.#pointers.update(name, own, { known: this.#known, signal });
    } catch (error) {
      const isGone = error instanceof SnapshotError && error.code === "ERR_NO_DISK";
      if (isGone) this.#check(undefined);
      throw error;
    }
  }

  /**
   * Returns the lease if it is still in the pointer, or if this process has removed it without getting the response.
   *
   * @throws {SnapshotError} `ERR_LEASE_LOST`
   */
  #check(known: KnownPointer | undefined): PointerLease {
    const lease = known?.pointer.lease;
    if (lease?.token === this.#request.token) return lease;
    const held = this.#known.pointer.lease;
    const isReleased = this.#unknown.some((one) => known && isSameState(one, known.pointer));
    if (held !== null && isReleased) return held;
    const error = this.#errorFor(known?.pointer);
    this.#lose(error);
    throw error;
  }

  #errorFor(pointer: Pointer | undefined): SnapshotError {
    const { name } = this.#request;
    const reason =
      pointer === undefined
        ? "was removed"
        : pointer.lease === null
          ? "was attached or rolled back by another host"
          : `is attached by ${pointer.lease.owner}`;
    const message = `${name} ${reason}: nothing more can be saved under this name; recover the local image as a new disk`;
    return new SnapshotError("ERR_LEASE_LOST", message);
  }

  #lose(error: SnapshotError): void {
    if (this.lost.aborted) return;
    const { name, owner } = this.#request;
    emit("hedgerow:store:lost", { store: this.#pointers.objects.name, name, owner });
    this.#lost.abort(error);
  }
}

/** Returns whether two pointers have the same last generation, and the disk was not attached in between. */
function isSameState(one: Pointer, other: Pointer): boolean {
  const [head, last] = [headOf(one), headOf(other)];
  return (
    one.lease?.token === other.lease?.token &&
    one.id === other.id &&
    one.epoch === other.epoch &&
    one.next === other.next &&
    head.digest === last.digest &&
    head.time === last.time
  );
}
