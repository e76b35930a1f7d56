// Stores of disks: attaching, saving, forking and collecting, compared with other tools that do the same.
import { installPrograms } from "../../../scripts/lib/debian.mjs";
import { installGoTool } from "../../../scripts/lib/go.mjs";
import { node24 } from "../../../scripts/lib/paths.mjs";
import { ownMounts } from "../../harness/own-mounts.mjs";
import { runScript } from "../../harness/programs.mjs";
import { onDisk } from "../../harness/temporary.mjs";

export { PLAN, QUICK } from "./plan.mjs";

export function prepare() {
  installPrograms("store");
  for (const name of /** @type {const} */ (["versitygw", "desync"])) installGoTool(name);
}

/** @typedef {{ folder: string, plan: import("./plan.mjs").Plan }} Parameters */

/** @param {import("./plan.mjs").Plan} plan */
export const measure = (plan) =>
  onDisk((folder) =>
    runScript("store", "images on XFS, Node 24", [...ownMounts(), node24], "run", { folder, plan }),
  );
