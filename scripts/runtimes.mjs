// Runs the cases on all engines, and writes the table of docs/compatibility.md: `npm run runtimes`.
import { build } from "./build.mjs";
import { installPrograms } from "./lib/debian.mjs";
import { main, StepError, step } from "./lib/run.mjs";
import { installSuite } from "./lib/suites.mjs";
import { setup } from "./setup.mjs";

await main(async () => {
  await setup();
  installPrograms("tests");
  build();
  installSuite("tests/runtimes", ["hedgerow"]);
  // These import packages that were installed just now.
  const { engines } = await import("../tests/runtimes/engines.mjs");
  const { DOCUMENT, tableOf, writeTable } = await import("../tests/runtimes/table.mjs");
  const rows = [];
  for (const engine of engines) rows.push(await run(engine));
  writeTable(tableOf(rows));
  step(`written to ${DOCUMENT}`);
});

/** Runs all cases on an engine. @param {import("../tests/runtimes/engines.mjs").Engine} engine */
async function run({ name, wasm, start }) {
  const { version, run, close } = await start();
  try {
    const outcomes = [...(await run("cases")), ...(await run("slim"))];
    const failed = outcomes.filter(({ error }) => error !== undefined);
    for (const { subject, promise, error } of failed) step(`${subject}: ${promise}: ${error}`);
    if (failed.length > 0) throw new StepError(`${name} ${version}: ${failed.length} cases failed`);
    step(`${name} ${version}: ${outcomes.length} cases passed`);
    return { name, version, wasm, cases: outcomes.length };
  } finally {
    await close?.();
  }
}
