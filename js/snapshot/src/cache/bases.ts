/** Finds the image of a base of a delta in a cache. */
import { SnapshotError } from "../error.js";
import type { BaseObject, Manifest } from "../format/manifest.js";
import { type InheritedFrame, inheritedFrames } from "../format/segments.js";
import { baseLocation, optionsFor } from "../location/base-objects.js";
import type { Location } from "../location/location.js";
import type { ReadWorkOptions, Source } from "../location/source.js";
import type { Layout } from "./files.js";
import type { ImageStore } from "./image-store.js";
import type { Lease } from "./leases.js";
import { type ImageContent, readContent } from "./record.js";

/** The minimum share of the data of a delta that the image of a base must have for a copy of it to save time. */
const MIN_INHERITED_SHARE = 1 / 8;

/** The minimum share of the bytes of a base object that a delta must use for its image to be restored first. */
const MIN_USED_SHARE = 0.5;

/** An image in the cache. */
interface LeasedImage {
  readonly lease: Lease;
  readonly content: ImageContent;
}

/** The image of a base of a delta in the cache. */
export interface CachedBase extends LeasedImage {
  /** The frames of the delta that it has, by their numbers. */
  readonly inherited: ReadonlyMap<number, InheritedFrame>;
}

/** An open snapshot and its manifest. */
export interface OpenSnapshot {
  readonly source: Source;
  readonly manifest: Manifest;
}

/** An open delta whose image will be made from a copy of its base's image. */
export interface OpenDelta extends OpenSnapshot {
  readonly base: CachedBase;
}

/** Options of a load. Of a base, no further base is restored: a chain of them may have any length. */
export interface LoadOptions extends ReadWorkOptions {
  /** The path for a copy of the image, if it is wanted. */
  readonly copyTo?: string | undefined;
  readonly isBase?: boolean;
}

/** Finds the image of a base of a delta in a cache. */
export class BaseFinder {
  /** @param load leases the image of a base object, and restores it if it is missing */
  constructor(
    private readonly layout: Layout,
    private readonly store: ImageStore,
    private readonly load: (
      location: Location,
      digest: string,
      options: LoadOptions,
    ) => Promise<Lease>,
  ) {}

  /** Leases the image of a base object of a delta. If none is cached, restores the one that the delta uses most. */
  async find(
    manifest: Manifest,
    location: Location,
    options: LoadOptions,
  ): Promise<CachedBase | undefined> {
    const image = await this.#takeOrRestore(manifest, location, options);
    if (image === undefined) return undefined;
    const { frames } = manifest;
    const inherited = inheritedFrames(manifest, image.content.manifest);
    let share = 0;
    let all = 0;
    for (let frame = 0; frame < frames.count; frame += 1) {
      const length = frames.isHole(frame) ? 0 : frames.usedLength(frame);
      all += length;
      if (inherited.has(frame)) share += length;
    }
    if (share >= MIN_INHERITED_SHARE * all) return { ...image, inherited };
    await this.store.release(image.lease);
    return undefined;
  }

  async #takeOrRestore(
    { info: { delta } }: Manifest,
    location: Location,
    options: LoadOptions,
  ): Promise<LeasedImage | undefined> {
    // The latest comes first: its image has most in common with the delta.
    for (const { digest } of delta?.objects ?? []) {
      const image = await this.take(digest);
      if (image !== undefined) return image;
    }
    const [object] = [...(delta?.objects ?? [])].sort((a, b) => b.usedBytes - a.usedBytes);
    if (object === undefined || options.isBase) return undefined;
    const isUsed = object.usedBytes >= MIN_USED_SHARE * object.size;
    return isUsed ? this.#restore(object, location, options) : undefined;
  }

  /** Leases an image with its content. Returns undefined if it is not cached, or its record is damaged. */
  async take(digest: string): Promise<LeasedImage | undefined> {
    return this.#open(await this.store.take(digest));
  }

  async #restore(
    object: BaseObject,
    delta: Location,
    options: LoadOptions,
  ): Promise<LeasedImage | undefined> {
    const base = await baseLocation(delta, object, options);
    const loading = { ...optionsFor(delta, base, options), copyTo: undefined, isBase: true };
    try {
      return await this.#open(await this.load(base, object.digest, loading));
    } catch (error) {
      if (isTooLarge(error)) return undefined;
      throw errorOfBase(object.digest, error);
    }
  }

  async #open(lease: Lease | undefined): Promise<LeasedImage | undefined> {
    if (lease === undefined) return undefined;
    let content: ImageContent | undefined;
    try {
      content = await readContent(this.layout.record(lease.info.digest), lease.info);
      return content && { lease, content };
    } finally {
      if (content === undefined) await this.store.release(lease);
    }
  }
}

/** Returns whether a cache has no room for the images of a delta and its base. The delta is then restored alone. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof SnapshotError && error.code === "ERR_CACHE_SIZE";
}

/** Returns the error of a base object with its identity. */
function errorOfBase(digest: string, error: unknown): unknown {
  if (!(error instanceof SnapshotError) || error.message.includes(digest)) return error;
  const { code, message, field, offset, cause, status } = error;
  return new SnapshotError(code, `base object ${digest}: ${message}`, {
    field,
    offset,
    cause,
    status,
  });
}
