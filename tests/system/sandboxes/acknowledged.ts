/** The acknowledged snapshots, which have to stay restorable. */
import { sumOf } from "./images.js";

/** An acknowledged snapshot. */
export interface Snapshot {
  readonly key: string;
  readonly digest: string;
  /** The SHA-256 of the image. */
  readonly sum: string;
}

export class AcknowledgedSnapshots {
  readonly #snapshots = new Map<string, Snapshot>();

  /** Records a snapshot that was acknowledged. */
  add(snapshot: Snapshot): void {
    this.#snapshots.set(snapshot.key, snapshot);
  }

  /** Forgets a snapshot that will be deleted. */
  remove({ key }: Snapshot): void {
    this.#snapshots.delete(key);
  }

  all(): Snapshot[] {
    return [...this.#snapshots.values()];
  }
}

/** Throws unless a file is the image of a snapshot. */
export async function expectImageOf(path: string, { key, sum }: Snapshot): Promise<void> {
  const found = await sumOf(path);
  if (found !== sum)
    throw new Error(`${path}: expected the image of ${key}, ${sum}, found ${found}`);
}
