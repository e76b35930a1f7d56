/**
 * Runs all that is promised of the interceptor with undici 8, and writes what became of each promise as
 * JSON: "kept", or the error.
 */
import * as undici from "undici";
import { checkExchanges } from "../../../support/http/check.js";
import { type Undici, undiciCases } from "../cases.js";
import { undiciSubject } from "../exchanges.js";

// The types of the version that this repository has.
const given = undici as unknown as Undici;

async function outcomeOf(keep: () => Promise<unknown>): Promise<string> {
  try {
    await keep();
    return "kept";
  } catch (error) {
    return (error instanceof Error && error.stack) || String(error);
  }
}

const outcomes: Record<string, string> = {};
for (const [promise, keep] of Object.entries(undiciCases)) {
  outcomes[promise] = await outcomeOf(() => keep(given));
}
const exchanges = await outcomeOf(() => checkExchanges(undiciSubject(given, true)));
process.stdout.write(JSON.stringify({ outcomes, exchanges }));
