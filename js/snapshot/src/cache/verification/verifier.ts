import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

import { pause } from "../../abort.js";
import type { Libc } from "../../local/libc.js";
import { flock } from "../../local/locks.js";
import { openFile } from "../../local/open-file.js";
import { openPrivate } from "../../local/private-file.js";
import type { VerifyOptions } from "../../options/cache-options.js";
import type { Layout } from "../directory/layout.js";
import { remove } from "../directory/write-files.js";
import type { Leases } from "../locks/leases.js";
import type { Verified } from "../statistics/stats.js";
import type { ImageStore } from "../store/image-store.js";
import { findDamage, type ReadPace } from "./find-damage.js";

/** The pause between two rounds of background verification, in milliseconds. */
const REST = 60_000;

/** Reads images and removes damaged ones, once or in the background. */
export class Verifier {
  readonly #libc: Libc;
  readonly #layout: Layout;
  readonly #leases: Leases;
  readonly #store: ImageStore;
  readonly #stopping = new AbortController();
  #background: Promise<void> = Promise.resolve();

  constructor(libc: Libc, layout: Layout, leases: Leases, store: ImageStore) {
    this.#libc = libc;
    this.#layout = layout;
    this.#leases = leases;
    this.#store = store;
  }

  /** Verifies all images once. @throws {SnapshotError} `ERR_CACHE`, and the reason of the signal */
  verify({ signal, bytesPerSecond }: VerifyOptions): Promise<Verified> {
    const wait = (milliseconds: number) => pause(milliseconds, signal);
    return this.#verifyAll({ signal, bytesPerSecond, pause: wait });
  }

  /** Verifies all images over and over while no other process does. Does not keep the process alive. */
  start(bytesPerSecond: number): void {
    const { signal } = this.#stopping;
    const wait = (milliseconds: number) => sleep(milliseconds, undefined, { ref: false, signal });
    this.#background = this.#repeat({ signal, bytesPerSecond, pause: wait }).catch(() => {});
  }

  /** Stops background verification. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#background;
  }

  async #repeat(pace: ReadPace): Promise<void> {
    const path = this.#layout.verifier;
    const file = await openPrivate(path, path, remove);
    try {
      for (;;) {
        // A round that fails is repeated after the pause.
        if (flock(this.#libc, file.fd, "exclusive")) await this.#verifyAll(pace).catch(() => {});
        await pace.pause(REST);
      }
    } finally {
      await file.close();
    }
  }

  async #verifyAll(pace: ReadPace): Promise<Verified> {
    const { images } = await this.#store.inventory(pace.signal);
    const damaged: string[] = [];
    let good = 0;
    for (const { digest, isWhole } of images) {
      pace.signal?.throwIfAborted();
      const isGood = isWhole ? await this.#verifyImage(digest, pace) : undefined;
      if (isGood) good += 1;
      else if (isGood === false) damaged.push(digest);
    }
    return { good, damaged };
  }

  /** Returns whether an image is intact, or undefined if it was removed meanwhile. */
  async #verifyImage(digest: string, pace: ReadPace): Promise<boolean | undefined> {
    const lease = this.#leases.take(digest, false);
    if (lease === undefined) return (await this.#store.discardUnfit(digest)) ? false : undefined;
    if (lease === "damaged") {
      return (await this.#store.discardDamaged(digest)) ? false : undefined;
    }
    const opening = openFile("ERR_CACHE", lease.path, (image, stats) => ({ image, stats }));
    // Reading takes long, and the open file stays readable: the lease would only prevent eviction.
    const { image, stats } = await opening.finally(() => this.#store.release(lease));
    try {
      const damage = await findDamage(lease, image.fd, this.#layout.record(digest), pace);
      if (damage === undefined) return true;
      const isSame = () =>
        this.#store.has(digest) &&
        statSync(lease.path, { throwIfNoEntry: false })?.ino === Number(stats.ino);
      return (await this.#store.discard(digest, damage, isSame)) ? false : undefined;
    } finally {
      await image.close();
    }
  }
}
