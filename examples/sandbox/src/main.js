// The command line.
import { DiskStore } from "@hedgerow/snapshot";

import { run } from "./sandbox.js";

const USAGE = "usage: npm start [run NAME | fork NAME NEW-NAME | list]";

/** @type {Record<string, (store: DiskStore, ...names: string[]) => Promise<void>>} */
const ACTIONS = {
  async run(store, name = "alice") {
    console.log(`${name}: run ${await run(store, name)}`);
  },
  async fork(store, name = "", fork = "") {
    await store.fork(name, fork);
    console.log(`${fork} begins with the disk of ${name}`);
  },
  async list(store) {
    for await (const disk of store.list()) console.log(disk);
  },
};

const [name = "run", ...names] = process.argv.slice(2);
const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
try {
  if (action === undefined) throw new Error(USAGE);
  // A folder, or a place that all hosts share, such as s3://my-bucket/disks
  const store = await DiskStore.open(process.env.SANDBOX_STORE ?? "disks");
  await action(store, ...names).finally(() => store.close());
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
