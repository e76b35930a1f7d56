import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { pause } from "../../abort.js";
import type { Libc } from "../../local/libc.js";
import { openFile } from "../../local/open-file.js";
import { openPrivate } from "../../local/private-file.js";
import type { VerifyOptions } from "../../options/cache-options.js";
import type { ImageStore } from "../directory/image-store.js";
import type { Layout } from "../directory/layout.js";
import { remove } from "../directory/replacing.js";
import type { Leases } from "../locks/leases.js";
import { lockAlone } from "../locks/lock.js";
import type { Verified } from "../statistics/stats.js";
import { damageOf, type Looking } from "./damage.js";

/** How long nothing is read in the background between two rounds, in milliseconds. */
const REST = 60_000;

/** Reads images, and has those go that are not what was restored. */
export class Verifier {
  readonly #libc: Libc;
  readonly #layout: Layout;
  readonly #leases: Leases;
  readonly #store: ImageStore;
  readonly #ending = new AbortController();
  #background: Promise<void> = Promise.resolve();

  constructor(libc: Libc, layout: Layout, leases: Leases, store: ImageStore) {
    this.#libc = libc;
    this.#layout = layout;
    this.#leases = leases;
    this.#store = store;
  }

  /** Reads all images once. @throws {SnapshotError} `ERR_CACHE`, and the reason of the signal */
  verify({ signal, bytesPerSecond }: VerifyOptions): Promise<Verified> {
    const wait = (milliseconds: number) => pause(milliseconds, signal);
    return this.#round({ signal, bytesPerSecond, pause: wait });
  }

  /** Reads images over and over, as long as no other process does. Nothing waits for it. */
  start(bytesPerSecond: number): void {
    const { signal } = this.#ending;
    const wait = (milliseconds: number) => sleep(milliseconds, undefined, { ref: false, signal });
    this.#background = this.#watch({ signal, bytesPerSecond, pause: wait }).catch(() => {});
  }

  /** Ends what {@link start} began. */
  async stop(): Promise<void> {
    this.#ending.abort();
    await this.#background;
  }

  async #watch(looking: Looking): Promise<void> {
    const path = this.#layout.verifier;
    const file = await openPrivate(path, path, remove);
    try {
      for (;;) {
        // What fails may not fail the next time.
        if (lockAlone(this.#libc, file.fd)) await this.#round(looking).catch(() => {});
        await looking.pause(REST);
      }
    } finally {
      await file.close();
    }
  }

  async #round(looking: Looking): Promise<Verified> {
    const { images } = await this.#store.inventory(looking.signal);
    const damaged: string[] = [];
    let good = 0;
    for (const { digest, isWhole } of images) {
      looking.signal?.throwIfAborted();
      const isGood = isWhole ? await this.#look(digest, looking) : undefined;
      if (isGood) good += 1;
      else if (isGood === false) damaged.push(digest);
    }
    return { good, damaged };
  }

  /** Returns whether an image is what was restored, or undefined if it went meanwhile. */
  async #look(digest: string, looking: Looking): Promise<boolean | undefined> {
    const lease = this.#leases.take(digest, false);
    if (lease === undefined) return (await this.#store.discardUnfit(digest)) ? false : undefined;
    if (lease === "damaged") {
      return (await this.#store.discardDamaged(digest)) ? false : undefined;
    }
    const opening = openFile("ERR_CACHE", lease.path, (image, found) => ({ image, found }));
    // It may go while it is read, which takes long: it stays open.
    const { image, found } = await opening.finally(() => this.#store.release(lease));
    try {
      const damage = await damageOf(lease, image.fd, this.#layout.record(digest), looking);
      if (damage === undefined) return true;
      const isIt = () =>
        this.#store.has(digest) &&
        statSync(lease.path, { throwIfNoEntry: false })?.ino === Number(found.ino);
      return (await this.#store.discard(digest, damage, isIt)) ? false : undefined;
    } finally {
      await image.close();
    }
  }
}
