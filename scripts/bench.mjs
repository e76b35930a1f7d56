// Runs benchmarks or writes the report: `npm run bench -- [SUITE ...] [--quick] [--json FILE]` or
// `npm run bench -- report`.
import { parse } from "../bench/suites/index.mjs";
import { build } from "./build.mjs";
import { main } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

await main(async () => {
  const task = parse(process.argv.slice(2));
  if (task === "report") {
    const { writeReport } = await import("../bench/report/index.mjs");
    writeReport();
  } else {
    await setup();
    build();
    const { runSuites } = await import("../bench/run.mjs");
    await runSuites(task);
  }
});
