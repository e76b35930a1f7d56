// Creates, runs and forks sandboxes: virtual machines whose disks persist in a store.
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { DiskStore, ImageCache } from "@hedgerow/snapshot";

import { run } from "./run.mjs";

/** The store of all hosts, the folder of this one, and that of what machines start from. */
const { SANDBOX_STORE = "store", SANDBOX_HOST = "host", SANDBOX_MACHINE = "machine" } = process.env;

/** The size limit of the cache of a host, in bytes. */
const MAX_BYTES = 20 * 2 ** 30;

/** What a machine has beside its disk: its memory, and the state of its devices. */
const VOLUMES = { memory: { size: 256 * 2 ** 20 }, state: {} };

/** @typedef {{ store: DiskStore, cache: ImageCache }} Host */

/** @type {Record<string, (host: Host, ...names: string[]) => Promise<unknown>>} */
const COMMANDS = {
  create: ({ store }, name, image) => store.create(name, { image, volumes: VOLUMES }),
  run: async ({ store }, name, ...flags) => {
    const [steal, powerOff] = ["--steal", "--power-off"].map((flag) => flags.includes(flag));
    return run(store, SANDBOX_HOST, name, { steal: Boolean(steal), powerOff: Boolean(powerOff) });
  },
  fork: ({ store }, name, fork) => store.fork(name, fork),
  // Keeps the images of a sandbox on this host: it continues without fetching them, and its forks fetch what they changed.
  pull: async ({ store, cache }, name) => {
    const { last } = await store.stat(name);
    for (const one of [last, last.volumes.memory])
      if (one) await (await cache.get(one.source, { digest: one.digest })).release();
  },
  history: async ({ store }, name) => {
    for await (const { number, time, bytes } of store.history(name))
      console.log(`${number}  ${time.toISOString()}  ${Math.ceil(bytes / 1000)} kB`);
  },
  list: async ({ store }) => {
    for await (const name of store.list()) {
      const { attached } = await store.stat(name);
      console.log(attached ? `${name}: runs on ${attached.owner}` : `${name}: stopped`);
    }
  },
  // Saves the local image of a crashed or stolen sandbox on this host as a new sandbox.
  recover: async ({ store }, name, fork) => {
    for await (const unsaved of store.unsaved())
      if (unsaved.name === name) return store.recover(unsaved.image, fork);
    throw new Error(`${name}: nothing to recover`);
  },
};

/** Without a command: runs the sandbox `alice`, which is made of the disk that `npm run build` has made. */
async function first(/** @type {Host} */ host) {
  const image = join(SANDBOX_MACHINE, "disk.img");
  await COMMANDS.create?.(host, "alice", image).catch((error) => {
    if (error.code !== "ERR_DISK_EXISTS") throw error;
  });
  await COMMANDS.run?.(host, "alice");
}

const USAGE = `expected: create NAME IMAGE, run NAME [--steal] [--power-off], fork NAME NEW-NAME, pull NAME,
  history NAME, list, or recover NAME NEW-NAME`;

/** Runs a command on this host. @param {string[]} args */
async function main([command, ...names]) {
  const named = command === undefined ? first : COMMANDS[command];
  const action = Object.hasOwn(COMMANDS, command ?? "run") ? named : undefined;
  if (action === undefined) throw new Error(USAGE);
  await mkdir(SANDBOX_HOST, { recursive: true });
  const cache = await ImageCache.open(join(SANDBOX_HOST, "cache"), { maxBytes: MAX_BYTES });
  const images = join(SANDBOX_HOST, "disks");
  try {
    const store = await DiskStore.open(SANDBOX_STORE, { cache, images });
    await action({ store, cache }, ...names).finally(() => store.close());
  } finally {
    await cache.close();
  }
}

await main(process.argv.slice(2)).catch((error) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
