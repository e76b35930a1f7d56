/** What was acknowledged: whoever was told that a snapshot is there has to get its image, byte for byte. */
import { sumOf } from "./images.js";

/** A snapshot that is in the store, by what was told. */
export interface Snapshot {
  readonly key: string;
  readonly digest: string;
  /** The SHA-256 of the image. */
  readonly sum: string;
}

export class Ledger {
  readonly #snapshots = new Map<string, Snapshot>();

  /** A snapshot was acknowledged. */
  add(snapshot: Snapshot): void {
    this.#snapshots.set(snapshot.key, snapshot);
  }

  /** A snapshot is given up. */
  remove({ key }: Snapshot): void {
    this.#snapshots.delete(key);
  }

  all(): Snapshot[] {
    return [...this.#snapshots.values()];
  }
}

/** Throws unless an image is that of a snapshot, byte for byte. */
export async function expectImageOf(path: string, { key, sum }: Snapshot): Promise<void> {
  const found = await sumOf(path);
  if (found !== sum)
    throw new Error(`${path}: expected the image of ${key}, ${sum}, found ${found}`);
}
