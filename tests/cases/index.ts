/** The behaviour of the package, written once, for every runtime to show. */
import type { Cases } from "./case.js";
import { connection } from "./connection.js";
import { fieldBlockErrors } from "./field-block-errors.js";
import { lifetime } from "./lifetime.js";
import { matches } from "./matches.js";
import { presets } from "./presets.js";
import { ruleErrors } from "./rule-errors.js";
import { strip } from "./strip.js";
import { stripBlock } from "./strip-block.js";
import { stripRaw } from "./strip-raw.js";

export const suites: Readonly<Record<string, Cases>> = {
  matches,
  strip,
  stripRaw,
  stripBlock,
  connection,
  "rule errors": ruleErrors,
  "field block errors": fieldBlockErrors,
  presets,
  lifetime,
};
