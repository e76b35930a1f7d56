import type { FileHandle } from "node:fs/promises";

import { emit } from "../../events.js";
import type { GetOptions } from "../../options/cache-options.js";
import { checkPinned, type ReadOptions, type WorkOptions } from "../../options/work-options.js";
import type { Location } from "../../places/location.js";
import { etagAt, identityOf, type RemoteLocation } from "../../places/server.js";
import { withSource } from "../../places/source.js";
import type { ImageStore } from "../directory/image-store.js";
import { type Seen, type Sources, sha256 } from "../directory/sources.js";
import type { KeyedLock } from "../locks/keyed-lock.js";
import type { Lease } from "../locks/leases.js";
import type { Counters } from "../statistics/counters.js";
import { fillOrEvict, type OpenSnapshot } from "./fill.js";
import { type Got, Singleflight } from "./singleflight.js";

/** What a filler works with. */
export interface FillerParts {
  readonly directory: string;
  readonly store: ImageStore;
  readonly claims: KeyedLock;
  readonly sources: Sources;
  readonly counters: Counters;
}

/** Opens a snapshot, and has `use` make something of it. */
type Opening = <T>(options: WorkOptions, use: (snapshot: OpenSnapshot) => Promise<T>) => Promise<T>;

/** Gets images, and restores those that are not there: each once, however many want it. */
export class ImageLoader {
  readonly #parts: FillerParts;
  readonly #flights: Singleflight;
  readonly #waited = (milliseconds: number) => this.#parts.counters.took("wait", milliseconds);

  constructor(parts: FillerParts) {
    this.#parts = parts;
    this.#flights = new Singleflight((lease) =>
      // What must go then goes the next time as well.
      parts.store.release(lease).catch(() => {}),
    );
  }

  /** @param digest that of the snapshot, if it is known: then nobody is asked what it is */
  async get(location: Location, digest: string | undefined, options: GetOptions): Promise<Got> {
    if (digest === undefined && location.kind !== "file") return this.#bySource(location, options);
    const found = digest ?? (await digestAt(location, options));
    const open: Opening = (how, use) => {
      const all = { options: { ...options, ...how }, wanted: "rest" } as const;
      return withSource(location, all, async (source) => {
        const manifest = await source.manifest();
        checkPinned(source.name, found, manifest.info.digest);
        return use({ source, manifest });
      });
    };
    const lease = await this.#parts.store.take(found);
    if (lease !== undefined) return { lease, hit: true };
    const who = whoOf(location, options);
    return this.#flights.join(`${found} ${who}`, options, (wanting) =>
      this.#fill(found, who, { ...options, ...wanting }, open),
    );
  }

  /** The digest of the snapshot at a place. */
  async digestOf(location: Location, options: ReadOptions): Promise<string> {
    if (location.kind === "file") return digestAt(location, options);
    const seen = await this.#parts.sources.seen(sha256(identityOf(location, options)));
    const isSame = seen !== undefined && (await isStill(seen, location, options));
    return isSame ? seen.digest : digestAt(location, options);
  }

  /** Has nobody wait for an image any more. */
  end(reason: unknown): Promise<void> {
    return this.#flights.end(reason);
  }

  /** Gets the image of whatever snapshot is there now. */
  async #bySource(location: RemoteLocation, options: GetOptions): Promise<Got> {
    const { claims, store, sources } = this.#parts;
    const identity = sha256(identityOf(location, options));
    // Who may not see it must not get it from someone who may, nor keep them from it.
    const who = whoOf(location, options);
    return this.#flights.join(who, options, async (wanting) => {
      const how = { ...options, ...wanting };
      let changed: Seen | undefined;
      const take = async (): Promise<Lease | undefined> => {
        const seen = await sources.seen(identity);
        if (seen === undefined || isEqual(seen, changed)) return undefined;
        if (!store.has(seen.digest)) return undefined;
        if (await isStill(seen, location, how)) return store.take(seen.digest);
        changed = seen;
        return undefined;
      };
      const lease = await take();
      if (lease !== undefined) return { lease, hit: true };
      // Another process may be at it, and done when this one is to begin.
      const find = async () => gotOf(await take());
      const see = () => this.#see(identity, who, location, how);
      const { signal } = wanting;
      return claims.alone(who, { signal, who, waited: this.#waited }, find, see);
    });
  }

  /** Looks which snapshot is there, and gets its image. */
  #see(identity: string, who: string, location: RemoteLocation, options: GetOptions): Promise<Got> {
    return withSource(location, { options, wanted: "rest" }, async (source) => {
      const manifest = await source.manifest();
      const { digest } = manifest.info;
      const { etag } = source;
      if (etag !== undefined) {
        await this.#parts.sources.see(identity, { version: sha256(etag), digest });
      }
      const lease = await this.#parts.store.take(digest);
      if (lease !== undefined) return { lease, hit: true };
      return this.#fill(digest, who, options, (_, use) => use({ source, manifest }));
    });
  }

  /** Has an image be there, by whomever. */
  #fill(digest: string, who: string, options: WorkOptions, open: Opening): Promise<Got> {
    const { store, claims } = this.#parts;
    const find = async () => gotOf(await store.take(digest));
    const { signal } = options;
    return claims.alone(digest, { signal, who, waited: this.#waited }, find, (claim) =>
      open(options, async (snapshot) => {
        return { lease: await this.#restore(snapshot, claim, options), hit: false };
      }),
    );
  }

  async #restore(snapshot: OpenSnapshot, claim: FileHandle, options: WorkOptions): Promise<Lease> {
    const { directory, store, counters } = this.#parts;
    const begun = performance.now();
    try {
      const lease = await fillOrEvict(store, snapshot, claim, options);
      counters.counts.fills += 1;
      const { info, bytes } = lease;
      const duration = performance.now() - begun;
      emit("hedgerow:cache:fill", { directory, digest: info.digest, bytes, duration });
      return lease;
    } catch (error) {
      counters.counts.failures += 1;
      throw error;
    }
  }
}

/** Who asks for what, as a digest: whose failure would be that of others who ask the same. */
function whoOf(location: Location, { headers, s3 }: ReadOptions): string {
  return sha256(JSON.stringify([location, headers, s3]));
}

/** The digest of the snapshot at a place, as it says itself. */
function digestAt(location: Location, options: ReadOptions): Promise<string> {
  return withSource(location, { options, wanted: "info" }, async (source) => {
    return (await source.manifest()).info.digest;
  });
}

/** Whether what was seen at a place is still there. */
async function isStill(
  seen: Seen,
  location: RemoteLocation,
  options: ReadOptions,
): Promise<boolean> {
  const etag = await etagAt(location, options);
  return etag !== undefined && sha256(etag) === seen.version;
}

/** An image that someone else has restored meanwhile. */
function gotOf(lease: Lease | undefined): Got | undefined {
  return lease && { lease, hit: false };
}

function isEqual(one: Seen, other: Seen | undefined): boolean {
  return one.version === other?.version && one.digest === other.digest;
}
