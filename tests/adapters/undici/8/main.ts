/** Runs the cases of the interceptor with undici 8, and prints their results as JSON: "passed", or the error. */
import * as undici from "undici";
import { checkExchanges } from "../../../support/http/check.js";
import { checkDryRuns } from "../../../support/http/check-dry-run.js";
import { undiciCases } from "../cases.js";
import type { Undici } from "../client.js";
import { undiciDryRun, undiciSubject } from "../exchanges.js";

// The repository has the types of undici 7.
const given = undici as unknown as Undici;

async function resultOf(run: () => Promise<unknown>): Promise<string> {
  try {
    await run();
    return "passed";
  } catch (error) {
    return (error instanceof Error && error.stack) || String(error);
  }
}

const results: Record<string, string> = {};
for (const [title, run] of Object.entries(undiciCases)) {
  results[title] = await resultOf(() => run(given));
}
const exchanges = await resultOf(() => checkExchanges(undiciSubject(given, true)));
const dryRuns = await resultOf(() => checkDryRuns(undiciDryRun(given, true)));
process.stdout.write(JSON.stringify({ results, exchanges, dryRuns }));
