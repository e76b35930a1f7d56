/** Services that are killed in the middle of their work, and what others find. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";

import { leftovers } from "../../support/snapshots/folder.js";
import type { Choices } from "../random.js";
import { HoldingEndpoint, type Moment } from "./held.js";
import { expectImageOf, type Snapshot } from "./ledger.js";
import type { Sandboxes } from "./sandboxes.js";
import { type Service, ServiceGone } from "./service.js";

type Kill = (sandboxes: Sandboxes, snapshot: Snapshot, choices: Choices) => Promise<void>;

/** What a service is killed amid. */
export type KillKind = "kill: filling" | "kill: resuming" | "kill: creating" | "kill: leasing";

export const KILLS: Readonly<Record<KillKind, Kill>> = {
  /** Another one waits for the image that it restores into the cache, and has it then. */
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
        // It is looked at below.
        waiting.catch(() => {});
      },
    );
    if (existsSync(one!)) throw new Error("expected no image of a service that was killed");
    await waiting;
    rmSync(other!);
  },

  /** What it has restored stays, and another one goes on from there. */
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
    if (existsSync(target)) throw new Error("expected no image of a service that was killed");
    const kept = leftovers(sandboxes.path("images")).map((name) => name.split(".").at(-1));
    if (kept.sort().join() !== "journal,part")
      throw new Error(`expected it to be kept, found ${kept}`);
    const options = { ...sandboxes.transfer(), digest: snapshot.digest, resume: true };
    await sandboxes.service.call("restore", sandboxes.urlOf(snapshot), target, options);
    await expectImageOf(target, snapshot);
    rmSync(target);
  },

  /** Its snapshot is there whole, or not at all. */
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
    await store.endUploads(key);
    if (existsSync(join(store.server.folder, key))) {
      const options = sandboxes.transfer(store.server.endpoint);
      await service.call("restore", sandboxes.urlOf({ key }), again!, options);
      await expectImageOf(again!, snapshot);
      rmSync(again!);
      await store.remove(key);
    }
    rmSync(image!);
  },

  /** What it had in use may go. */
  async "kill: leasing"(sandboxes, snapshot) {
    const { service } = sandboxes;
    const victim = await sandboxes.startService();
    const options = { ...sandboxes.transfer(), digest: snapshot.digest };
    await victim.call("lease", "its own", sandboxes.urlOf(snapshot), options);
    await service.call("prune", 0);
    if (!(await service.call("has", sandboxes.urlOf(snapshot), snapshot.digest))) {
      throw new Error("expected an image that is in use to stay");
    }
    await victim.kill();
    await service.call("prune", 0);
    const { entries } = await service.call("stats");
    if (entries !== 0) throw new Error(`expected no image to stay, found ${entries}`);
  },
};

function reading(sandboxes: Sandboxes, { digest }: Snapshot, endpoint: URL) {
  return { ...sandboxes.transfer(endpoint), partSize: 2 ** 20, digest };
}

/**
 * Has a service begin something by way of an endpoint that holds back an answer, and kills it then.
 *
 * @param meanwhile is called before
 */
async function killAmid(
  sandboxes: Sandboxes,
  moment: Moment,
  begin: (victim: Service, endpoint: URL) => Promise<unknown>,
  meanwhile = () => {},
): Promise<void> {
  const holding = await HoldingEndpoint.start(sandboxes.store.server.endpoint, moment);
  const victim = await sandboxes.startService();
  try {
    const work = begin(victim, holding.endpoint);
    const ended = work.then(
      () => "it ended",
      (error: unknown) => error,
    );
    await Promise.race([holding.held, ended]);
    meanwhile();
    await victim.kill();
    const how = await ended;
    if (!(how instanceof ServiceGone)) throw new Error(`expected it to be at work, found ${how}`);
  } finally {
    await victim.kill();
    await holding.close();
  }
}
