/** A disk and its volume as one: a model then needs no notion of volumes to find out whether a save has only one of them. */
import type { AttachedDisk, Generation, SavedGeneration, Volume } from "@hedgerow/snapshot";

/** The volume of a disk that has one. */
export const TWIN = "twin";

/** A volume of a disk, perhaps in another process. */
export type ModelVolume = Pick<AttachedDisk, "read" | "write" | "size" | "changedBytes">;

/** A disk, perhaps in another process. */
export type ModelDisk = ModelVolume &
  Pick<AttachedDisk, "generation" | "epoch" | "image" | "save" | "detach" | "volumes"> & {
    readonly lost: { readonly aborted: boolean };
    volume(name: string): ModelVolume | Volume;
  };

/** Returns the identities of the snapshots of a generation. */
export function digestsOf({ digest, volumes }: Generation): string[] {
  return [digest, ...Object.values(volumes).map((volume) => volume.digest)];
}

/** Returns a generation of a disk and its volume with one identity. */
export function joined<G extends Generation>(generation: G): G {
  return { ...generation, digest: digestsOf(generation).join("-") };
}

/** A disk, followed by its volume if it has one. */
export class JoinedDisk {
  constructor(readonly disk: ModelDisk) {}

  get #volumes(): ModelVolume[] {
    const { disk } = this;
    return [disk, ...disk.volumes.map((name) => disk.volume(name) as ModelVolume)];
  }

  get size(): number {
    return this.#volumes.reduce((sum, { size }) => sum + size, 0);
  }

  get changedBytes(): number {
    return this.#volumes.reduce((sum, { changedBytes }) => sum + changedBytes, 0);
  }

  get generation(): Generation {
    return joined(this.disk.generation);
  }

  async read(): Promise<Buffer> {
    const contents = [];
    for (const volume of this.#volumes) contents.push(await volume.read(0, volume.size));
    return Buffer.concat(contents);
  }

  /** Writes bytes, each part to its volume. */
  async write(offset: number, bytes: Uint8Array): Promise<void> {
    let start = 0;
    for (const volume of this.#volumes) {
      const [first, end] = [offset - start, offset - start + bytes.length];
      const [from, to] = [Math.max(first, 0), Math.min(end, volume.size)];
      if (from < to) await volume.write(from, bytes.subarray(from - first, to - first));
      start += volume.size;
    }
  }

  async save(options: { readonly label?: string | undefined }): Promise<SavedGeneration> {
    return joined(await this.disk.save({ ...options, workers: 1 }));
  }
}
