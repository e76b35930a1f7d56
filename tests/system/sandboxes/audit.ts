/** Checks the store, the cache and the disk while all services are idle. */
import { rmSync } from "node:fs";

import { diskUse, strayFiles } from "../../../js/snapshot/test/support/cache.js";
import { leftovers } from "../../support/snapshots/folder.js";
import { expectImageOf } from "./acknowledged.js";
import type { Sandboxes } from "./sandboxes.js";
import { Service } from "./service.js";

/** Opens the cache in a new service, and throws if an image is damaged. */
export async function expectCacheWhole(sandboxes: Sandboxes): Promise<void> {
  const service = await sandboxes.startService();
  const { damaged } = await service.call("verify");
  if (damaged.length > 0) throw new Error(`damaged images in the cache: ${damaged}`);
  await service.close();
}

/** Throws if temporary files, uploads or leases are left, or if the cache exceeds its limit. */
export async function expectTidy(sandboxes: Sandboxes, maxBytes: number): Promise<void> {
  const { service, store, directory } = sandboxes;
  const { bytes, excessBytes, leases } = await service.call("stats");
  const use = diskUse(directory);
  if (bytes !== use) throw new Error(`expected the cache to report ${use} bytes, found ${bytes}`);
  if (use > maxBytes || excessBytes > 0) {
    throw new Error(`expected a cache of at most ${maxBytes} bytes, found ${use}`);
  }
  if (leases > 0) throw new Error(`expected no leases, found ${leases}`);
  const left = [
    ...strayFiles(directory),
    ...leftovers(sandboxes.path("images")),
    ...store.server.multipartUploads().map(({ key }) => `an upload of ${key}`),
  ];
  if (left.length > 0) throw new Error(`unfinished work left ${left.join(", ")}`);
}

/** Restores every acknowledged snapshot, compares it byte for byte, and throws if the store has other objects. */
export async function expectAllRestorable(sandboxes: Sandboxes): Promise<void> {
  const { store, acknowledged } = sandboxes;
  const target = sandboxes.path("images", "again");
  const service = await Service.start();
  for (const snapshot of acknowledged.all()) {
    const options = { ...sandboxes.transfer(store.server.endpoint), digest: snapshot.digest };
    await service.call("restore", sandboxes.urlOf(snapshot), target, options);
    await expectImageOf(target, snapshot);
  }
  rmSync(target);
  await service.close();
  const known = new Set(acknowledged.all().map(({ key }) => key));
  const unknown = store.server.objects().filter((key) => !isFilter(key) && !known.has(key));
  if (unknown.length > 0) throw new Error(`unknown objects in the store: ${unknown}`);
}

/** The edge keeps its filters in the same store. */
const isFilter = (key: string) => key.startsWith("filters/");
