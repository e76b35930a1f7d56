// A sandbox has a disk in a store. One host at a time attaches the disk, works on it, and saves the changes.

/** @import { DiskStore } from "@hedgerow/snapshot" */

/** The size of new disks, in bytes. */
const SIZE = 2 ** 30;

/**
 * Runs a sandbox once, which counts its runs on its disk. Creates it if it is new.
 *
 * @param {DiskStore} store
 * @param {string} name
 * @returns {Promise<number>} the number of runs so far
 */
export async function run(store, name) {
  if (!(await exists(store, name))) await store.create(name, { size: SIZE });
  const disk = await store.attach(name);
  try {
    // Here a virtual machine would use the disk, by the URI that `disk.listen` returns.
    const block = Buffer.from(await disk.read(0, 4));
    const runs = block.readUInt32LE() + 1;
    block.writeUInt32LE(runs);
    await disk.write(0, block);
    return runs;
  } finally {
    await disk.detach();
  }
}

/** @param {DiskStore} store @param {string} name */
async function exists(store, name) {
  return store.stat(name).then(
    () => true,
    (error) => {
      if (error.code === "ERR_NO_DISK") return false;
      throw error;
    },
  );
}
