// Measures deltas: creating them and restoring from them, on ext4 and on XFS.
import { log } from "../../harness/turns.mjs";
import { clusteredWrites, scatteredWrites } from "./changes.mjs";
import { measureCreates, measureScattered } from "./creates.mjs";
import { changeImages, makeInputs } from "./inputs.mjs";
import { SUITE } from "./methods.mjs";
import { measureChain, measureRestores } from "./restores.mjs";
import { DesyncStore } from "./rivals.mjs";
import { MAIN, SCATTERED, SHARES } from "./suite.mjs";

/** @import { Measured } from "../../harness/results.mjs" */

/**
 * The plan, the inputs, and the store of desync, if that is installed.
 *
 * @typedef {{ plan: import("./suite.mjs").Plan, inputs: import("./inputs.mjs").Inputs, desync: DesyncStore | undefined }} Context
 */

/** @param {import("./suite.mjs").Parameters} parameters */
export async function measure({ folder, plan, desyncError }) {
  const inputs = await makeInputs(folder, plan);
  const desync = desyncError === undefined ? new DesyncStore(folder) : undefined;
  await desync?.add(inputs.ext4.base);
  const context = { plan, inputs, desync };
  const results = /** @type {Measured[]} */ ([]);
  if (desyncError !== undefined) results.push({ suite: `${SUITE}, desync`, why: desyncError });
  if (inputs.refusal !== undefined) {
    results.push({ suite: `${SUITE}, XFS`, why: `XFS cannot be mounted: ${inputs.refusal}` });
  }
  for (const { name, share } of SHARES) {
    log(`${name} changed`);
    const ranges = clusteredWrites(inputs.blocks, share);
    const changed = changeImages(inputs, ranges);
    const change = { name, ranges, changed };
    results.push(...(await measureCreates(context, change)));
    results.push(...(await measureDisks(context, name)));
  }
  for (const writes of SCATTERED) {
    log(writes.name);
    const { name } = writes;
    const ranges = scatteredWrites(inputs.blocks, writes);
    const changed = changeImages(inputs, ranges);
    results.push(...(await measureScattered(context, { name, ranges, changed })));
  }
  log("a chain of deltas");
  results.push(...(await measureChain(context)));
  return results;
}

/** Restores to XFS, and at the main change to ext4, too. @param {Context} context @param {string} name */
async function measureDisks(context, name) {
  const { inputs, plan } = context;
  const results = /** @type {Measured[]} */ ([]);
  const isMain = name === MAIN;
  const rounds = isMain ? plan.rounds : plan.slowRounds;
  if (inputs.xfs !== undefined)
    results.push(...(await measureRestores(context, "restore", name, inputs.xfs, rounds)));
  if (isMain)
    results.push(...(await measureRestores(context, "restore to ext4", name, inputs.ext4, rounds)));
  return results;
}
