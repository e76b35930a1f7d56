/** The test cases of the package that run on every runtime. */
import { honoAdapter } from "./adapters/hono.js";
import { workersAdapter } from "./adapters/workers.js";
import type { Cases } from "./case.js";
import { connection } from "./headers/connection.js";
import { fieldBlockErrors } from "./headers/field-block-errors.js";
import { keep } from "./headers/keep.js";
import { lifetime } from "./headers/lifetime.js";
import { matches } from "./headers/matches.js";
import { presets } from "./headers/presets.js";
import { ruleErrors } from "./headers/rule-errors.js";
import { strip } from "./headers/strip.js";
import { blocks } from "./headers/strip-block.js";
import { stripRaw } from "./headers/strip-raw.js";
import { memory } from "./memory.js";
import { filterBuilding } from "./paths/filter-building.js";
import { filterErrors } from "./paths/filter-errors.js";
import { filterLifetime } from "./paths/filter-lifetime.js";
import { filterLoading } from "./paths/filter-loading.js";
import { filterMerging } from "./paths/filter-merging.js";
import { filterQueries } from "./paths/filter-queries.js";
import { filterStore } from "./paths/filter-store.js";
import { pathGuard } from "./paths/path-guard.js";
import { pathNormalization } from "./paths/path-normalization.js";
import { pathSet } from "./paths/path-set.js";

export const suites: Readonly<Record<string, Cases>> = {
  matches,
  strip,
  stripRaw,
  stripBlock: blocks,
  connection,
  keep,
  "rule errors": ruleErrors,
  "field block errors": fieldBlockErrors,
  presets,
  lifetime,
  "path normalization": pathNormalization,
  "filter building": filterBuilding,
  "filter merging": filterMerging,
  "filter queries": filterQueries,
  "filter loading": filterLoading,
  "filter errors": filterErrors,
  "filter lifetime": filterLifetime,
  "filter store": filterStore,
  "path set": pathSet,
  "path guard": pathGuard,
  memory,
  "hedgerow/workers": workersAdapter,
  "hedgerow/hono": honoAdapter,
};
