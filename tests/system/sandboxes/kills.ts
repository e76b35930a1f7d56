/** Services killed in the middle of their work, and the state that other services find. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";

import { leftovers } from "../../support/snapshots/folder.js";
import type { Choices } from "../random.js";
import { expectImageOf, type Snapshot } from "./acknowledged.js";
import { HoldingEndpoint, type Moment } from "./holding-endpoint.js";
import type { Sandboxes } from "./sandboxes.js";
import { type Service, ServiceExited } from "./service.js";

type Kill = (sandboxes: Sandboxes, snapshot: Snapshot, choices: Choices) => Promise<void>;

/** The work during which a service is killed. */
export type KillKind = "kill: filling" | "kill: resuming" | "kill: creating" | "kill: leasing";

export const KILLS: Readonly<Record<KillKind, Kill>> = {
  /** A service that waits for the killed one to fill the cache fills it instead. */
  async "kill: filling"(sandboxes, snapshot, choices) {
    const { service } = sandboxes;
    await service.call("remove", sandboxes.urlOf(snapshot), snapshot.digest);
    const [one, other] = ["killed", "waited"].map((name) => sandboxes.path("images", name));
    let waiting: Promise<boolean> | undefined;
    await killAmid(
      sandboxes,
      { method: "GET", after: 2 + choices.below(3) },
      (victim, endpoint) => {
        const options = { ...reading(sandboxes, snapshot, endpoint), isCached: true };
        return victim.call("restore", sandboxes.urlOf(snapshot), one!, options);
      },
      () => {
        waiting = sandboxes.restoreCached(service, snapshot, other!);
        // Awaited below.
        waiting.catch(() => {});
      },
    );
    if (existsSync(one!)) throw new Error("the killed service left an image");
    await waiting;
    rmSync(other!);
  },

  /** The restored frames stay, and another service resumes from there. */
  async "kill: resuming"(sandboxes, snapshot, choices) {
    const target = sandboxes.path("images", "interrupted");
    await killAmid(
      sandboxes,
      { method: "GET", after: 3 + choices.below(2) },
      (victim, endpoint) => {
        const options = { ...reading(sandboxes, snapshot, endpoint), resume: true };
        return victim.call("restore", sandboxes.urlOf(snapshot), target, options);
      },
    );
    if (existsSync(target)) throw new Error("the killed service left an image");
    const kept = leftovers(sandboxes.path("images")).map((name) => name.split(".").at(-1));
    if (kept.sort().join() !== "journal,part")
      throw new Error(`expected a journal and a partial image, found ${kept}`);
    const options = { ...sandboxes.transfer(), digest: snapshot.digest, resume: true };
    await sandboxes.service.call("restore", sandboxes.urlOf(snapshot), target, options);
    await expectImageOf(target, snapshot);
    rmSync(target);
  },

  /** The snapshot is complete or missing. */
  async "kill: creating"(sandboxes, snapshot, choices) {
    const { service, store } = sandboxes;
    const [image, again] = ["unfinished", "again"].map((name) => sandboxes.path("images", name));
    await sandboxes.restoreCached(service, snapshot, image!);
    const key = "unfinished.vhs";
    await killAmid(sandboxes, { method: "PUT", after: choices.below(2) }, (victim, endpoint) => {
      const options = { ...sandboxes.transfer(endpoint), connections: 1, level: 1 };
      return victim.call("create", image!, sandboxes.urlOf({ key }), {
        ...options,
        partSize: 5 * 2 ** 20,
      });
    });
    await store.abortUploads(key);
    if (existsSync(join(store.server.folder, key))) {
      const options = sandboxes.transfer(store.server.endpoint);
      await service.call("restore", sandboxes.urlOf({ key }), again!, options);
      await expectImageOf(again!, snapshot);
      rmSync(again!);
      await store.remove(key);
    }
    rmSync(image!);
  },

  /** Images leased by the killed service can be evicted. */
  async "kill: leasing"(sandboxes, snapshot) {
    const { service } = sandboxes;
    const victim = await sandboxes.startService();
    const options = { ...sandboxes.transfer(), digest: snapshot.digest };
    await victim.call("lease", "lease", sandboxes.urlOf(snapshot), options);
    await service.call("prune", 0);
    if (!(await service.call("has", sandboxes.urlOf(snapshot), snapshot.digest))) {
      throw new Error("an image in use was evicted");
    }
    await victim.kill();
    await service.call("prune", 0);
    const { entries } = await service.call("stats");
    if (entries !== 0) throw new Error(`expected an empty cache, found ${entries} entries`);
  },
};

function reading(sandboxes: Sandboxes, { digest }: Snapshot, endpoint: URL) {
  return { ...sandboxes.transfer(endpoint), partSize: 2 ** 20, digest };
}

/**
 * Starts work in a service, through a proxy that withholds a response, and kills the service while it waits.
 *
 * @param beforeKill called when the response is withheld
 */
async function killAmid(
  sandboxes: Sandboxes,
  moment: Moment,
  start: (victim: Service, endpoint: URL) => Promise<unknown>,
  beforeKill = () => {},
): Promise<void> {
  const holding = await HoldingEndpoint.start(sandboxes.store.server.endpoint, moment);
  const victim = await sandboxes.startService();
  try {
    const work = start(victim, holding.endpoint);
    const ended = work.then(
      () => "success",
      (error: unknown) => error,
    );
    await Promise.race([holding.held, ended]);
    beforeKill();
    await victim.kill();
    const how = await ended;
    if (!(how instanceof ServiceExited))
      throw new Error(`expected the service to be killed while working, found ${how}`);
  } finally {
    await victim.kill();
    await holding.close();
  }
}
