/**
 * The whole system, as a platform has it: sites are built, their filters are made by the command line and put into
 * an object store, and a worker guards them; sandboxes begin, write, are persisted and go on. Meanwhile, whatever
 * may fail does so, by a seed, and nothing is lost and nothing leaks. `npm run soak` does the same for longer.
 */
import { test } from "vitest";

import { temporaryFolder } from "../support/snapshots/folder.js";
import { ENOUGH_ROUNDS, MAX_SECONDS, runScenario } from "./scenario.js";

const { HEDGEROW_SOAK_SEED, HEDGEROW_SOAK_ROUNDS } = process.env;
const seed = Number(HEDGEROW_SOAK_SEED ?? 1);
const rounds = Number(HEDGEROW_SOAK_ROUNDS ?? ENOUGH_ROUNDS);

const path = temporaryFolder();

test(
  `in ${rounds} rounds of seed ${seed}, nothing is lost and nothing leaks`,
  async () => {
    const tell =
      HEDGEROW_SOAK_ROUNDS === undefined ? () => {} : (text: string) => console.log(text);
    await runScenario({ seed, rounds, path, tell });
  },
  MAX_SECONDS * 1000,
);
