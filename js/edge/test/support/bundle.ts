/** Internals that the bundle exports without declaring them. */
import * as hedgerow from "hedgerow";

type Bundle = typeof import("../../dist/entries/bundle-with-build.js");

export const { buildMemory, CompiledRules, FilterFile, MatchCache, memory, RuleSet } =
  hedgerow as unknown as Bundle;
