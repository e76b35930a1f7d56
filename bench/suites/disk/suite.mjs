// Disks: using a snapshot before it has arrived, compared with restoring it first and with other NBD servers.
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { node24 } from "../../../scripts/lib/paths.mjs";
import { makeGuest } from "../../../scripts/lib/set-up-tests.mjs";
import { ownMounts } from "../../harness/own-mounts.mjs";
import { runScript } from "../../harness/programs.mjs";
import { inMemory } from "../../harness/temporary.mjs";

export { PLAN, QUICK } from "./plan.mjs";

export function prepare() {
  installPrograms("disk");
  makeGuest();
}

/** @typedef {{ folder: string, plan: import("./plan.mjs").Plan }} Parameters */

/** @param {import("./plan.mjs").Plan} plan */
export function measure(plan) {
  const command = [...ownMounts(), node24];
  return inMemory((folder) =>
    runScript("disk", "images in memory, Node 24", command, "run", { folder, plan }),
  );
}
