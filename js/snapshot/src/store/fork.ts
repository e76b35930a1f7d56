import { eachOf } from "./each-of.js";
import { newPointer } from "./new-disk.js";
import type { ParentGeneration } from "./pointer.js";
import { POINTERS_AT_A_TIME, type Pointers } from "./pointers.js";
import type { StoredSnapshot } from "./snapshots.js";

/**
 * Creates disks that begin with a snapshot: all of them or none.
 *
 * @throws {SnapshotError} `ERR_DISK_EXISTS`, `ERR_STORE`
 */
export async function createForks(
  pointers: Pointers,
  names: readonly string[],
  stored: StoredSnapshot,
  parent: ParentGeneration,
  signal: AbortSignal | undefined,
): Promise<void> {
  const time = await pointers.objects.now();
  const forks = new Map(names.map((name) => [name, newPointer(stored, time, { parent })]));
  const begun = new Set<string>();
  try {
    await eachOf(forks, POINTERS_AT_A_TIME, async ([name, pointer]) => {
      begun.add(name);
      await pointers.create(name, pointer, signal);
    });
  } catch (error) {
    // One whose response was lost may be there, too.
    await Promise.allSettled(
      [...begun].map(async (name) => {
        const known = await pointers.find(name);
        const isOwn = known?.pointer.id === forks.get(name)?.id;
        if (known !== undefined && isOwn && known.pointer.epoch === 0)
          await pointers.remove(name, known);
      }),
    );
    throw error;
  }
}
