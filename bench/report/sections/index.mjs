// The sections of docs/benchmarks.md, in their order.
import { adapters } from "./adapters.mjs";
import { asking } from "./asking.mjs";
import { building } from "./building.mjs";
import { codec } from "./codec.mjs";
import { deciding } from "./deciding.mjs";
import { falsePositives } from "./false-positives.mjs";
import { hitRates } from "./hit-rates.mjs";
import { copies, hits } from "./hits.mjs";
import { loading } from "./loading.mjs";
import { restoring } from "./restoring.mjs";
import { rules } from "./rules.mjs";
import { size } from "./size.mjs";
import { start } from "./start.mjs";
import { stripping } from "./stripping.mjs";

/** @type {((figures: import("../figures.mjs").Figures) => import("../made.mjs").Section)[]} */
export const SECTIONS = [
  ...[stripping, rules, loading, size, asking, building, falsePositives, restoring, deciding],
  ...[hits, copies, hitRates, codec, adapters, start],
];
