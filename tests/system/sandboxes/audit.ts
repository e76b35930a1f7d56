/** What has to be true of the store, the cache and the disk when nobody is at work. */
import { rmSync } from "node:fs";

import { diskUse, strayFiles } from "../../../js/snapshot/test/support/cache.js";
import { leftovers } from "../../support/snapshots/folder.js";
import { expectImageOf } from "./ledger.js";
import type { Sandboxes } from "./sandboxes.js";
import { Service } from "./service.js";

/** The next who opens the cache finds every image whole. */
export async function expectCacheWhole(sandboxes: Sandboxes): Promise<void> {
  const service = await sandboxes.startService();
  const { damaged } = await service.call("verify");
  if (damaged.length > 0) throw new Error(`expected no damaged image, found ${damaged}`);
  await service.end();
}

/** Throws if anything is left of work that is over, or the cache takes more than it may. */
export async function expectTidy(sandboxes: Sandboxes, maxBytes: number): Promise<void> {
  const { service, store, directory } = sandboxes;
  const { bytes, excessBytes, leases } = await service.call("stats");
  const use = diskUse(directory);
  if (bytes !== use) throw new Error(`expected the cache to tell ${use} bytes, found ${bytes}`);
  if (use > maxBytes || excessBytes > 0) {
    throw new Error(`expected a cache of ${maxBytes} bytes at most, found ${use}`);
  }
  if (leases > 0) throw new Error(`expected nothing in use, found ${leases} leases`);
  const left = [
    ...strayFiles(directory),
    ...leftovers(sandboxes.path("images")),
    ...store.server.multipartUploads().map(({ key }) => `an upload of ${key}`),
  ];
  if (left.length > 0) throw new Error(`expected nothing left, found ${left.join(", ")}`);
}

/** All that was acknowledged can be restored, byte for byte, and there is nothing else in the store. */
export async function expectAllThere(sandboxes: Sandboxes): Promise<void> {
  const { store, ledger } = sandboxes;
  const target = sandboxes.path("images", "again");
  const service = await Service.start();
  for (const snapshot of ledger.all()) {
    const options = { ...sandboxes.transfer(store.server.endpoint), digest: snapshot.digest };
    await service.call("restore", sandboxes.urlOf(snapshot), target, options);
    await expectImageOf(target, snapshot);
  }
  rmSync(target);
  await service.end();
  const known = new Set(ledger.all().map(({ key }) => key));
  const strange = store.server.objects().filter((key) => !isFilter(key) && !known.has(key));
  if (strange.length > 0) throw new Error(`expected no other objects, found ${strange}`);
}

/** The other half of the scenario keeps filters in the same store. */
const isFilter = (key: string) => key.startsWith("filters/");
