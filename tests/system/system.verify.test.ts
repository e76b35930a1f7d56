/**
 * Runs the whole system as a platform would. The command line builds the filters of sites, an object store serves
 * the filters, and a worker guards the sites. Sandboxes are created, written to, persisted and resumed. A seed chooses
 * the faults. Nothing may be lost, and nothing may leak. `npm run verify -- soak` runs the same for longer.
 */
import { test } from "vitest";

import { temporaryFolder } from "../support/snapshots/folder.js";
import { trials } from "../support/trials.js";
import { FULL_COVERAGE_ROUNDS, MAX_SECONDS, runScenario } from "./scenario.js";

const { HEDGEROW_SOAK_SEED, HEDGEROW_SOAK_ROUNDS } = process.env;
const seed = Number(HEDGEROW_SOAK_SEED ?? 1);
const rounds = Number(HEDGEROW_SOAK_ROUNDS ?? trials({ few: 1, all: FULL_COVERAGE_ROUNDS }));

const path = temporaryFolder();

test(
  `loses nothing and leaks nothing, rounds: ${rounds}, seed: ${seed}`,
  async () => {
    const log = HEDGEROW_SOAK_ROUNDS === undefined ? () => {} : (text: string) => console.log(text);
    await runScenario({ seed, rounds, path, log });
  },
  MAX_SECONDS * 1000,
);
