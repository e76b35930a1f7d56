// Runs steps in parallel processes: some are bound by the processors, others by the network.
import { runTogether } from "./run.mjs";

/**
 * A function without arguments in a module of `scripts`.
 *
 * @typedef {[module: string, name: string]} Call
 */

/** Calls each function in its own process and waits for all. @param {Call[]} calls */
export const together = (calls) =>
  runTogether(
    calls.map(([module, name]) => [
      process.execPath,
      ["--input-type=module", "--eval", program(module, name)],
    ]),
  );

/** @param {string} module @param {string} name */
const program = (module, name) => `
  const { main } = await import("./scripts/lib/run.mjs");
  const { ${name} } = await import("./scripts/${module}");
  await main(${name});`;
