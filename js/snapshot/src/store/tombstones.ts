/** Tombstones: the marks of snapshots that nothing refers to. docs/store.md says when a collection may delete them. */
import { randomUUID } from "node:crypto";
import { SnapshotError } from "../error.js";
import type { StoredObject } from "../services/object-service.js";
import type { StoreObjects } from "./objects.js";

/** The folder of the tombstones. */
const FOLDER = "tombstones/";

const MAX_LENGTH = 4_096;

/** A tombstone, as it was read. */
export interface Tombstone {
  readonly state: "marked" | "deleting";
  readonly tag: string;
  /** When it was written, by the clock of the store. */
  readonly modified: number;
}

/** The tombstones of a store. Each change is one conditional write. */
export class Tombstones {
  constructor(private readonly objects: StoreObjects) {}

  /** Returns the tombstone of a snapshot, if there is one. @throws {SnapshotError} `ERR_STORE` */
  async read(digest: string, signal?: AbortSignal): Promise<Tombstone | undefined> {
    const key = keyOf(digest);
    const found = await this.objects.read(key, MAX_LENGTH, signal);
    return found && { ...found, state: stateOf(`${this.objects.name}/${key}`, found) };
  }

  /** Marks a snapshot, unless it is marked. */
  async mark(digest: string): Promise<void> {
    await this.objects.write(keyOf(digest), bytesOf("marked"), undefined);
  }

  /** Claims a snapshot for deletion. Returns the tag of the claim, or undefined if the tombstone has changed. */
  async claim(digest: string, { tag }: Tombstone): Promise<string | undefined> {
    return (await this.objects.write(keyOf(digest), bytesOf("deleting"), tag)).tag;
  }

  /** Removes a tombstone. Returns false if it has changed. */
  remove(digest: string, tag: string): Promise<boolean> {
    return this.objects.remove(keyOf(digest), tag);
  }

  /** Yields the digests of all snapshots that have a tombstone. */
  async *digests(signal?: AbortSignal): AsyncGenerator<string> {
    for await (const { key } of this.objects.list(FOLDER, undefined, signal))
      yield key.slice(FOLDER.length);
  }
}

function keyOf(digest: string): string {
  return `${FOLDER}${digest}`;
}

/** Returns the content of a tombstone. No two calls return the same bytes, so that a writer recognises its own. */
function bytesOf(state: Tombstone["state"]): Buffer {
  return Buffer.from(`${JSON.stringify({ version: 1, state, revision: randomUUID() })}\n`);
}

function stateOf(name: string, { bytes }: StoredObject): Tombstone["state"] {
  try {
    const { version, state } = Object(JSON.parse(bytes.toString())) as Record<string, unknown>;
    if (version === 1 && (state === "marked" || state === "deleting")) return state;
  } catch {
    // It is not JSON.
  }
  throw new SnapshotError("ERR_STORE", `${name}: expected a tombstone of version 1`);
}
