/** What the package has without types, for its own entries. */
import * as hedgerow from "hedgerow";

type Whole = typeof import("../../dist/whole-and-build.js");

export const { buildMemory, CompiledRules, Confirmations, FilterFile, memory, RuleSet } =
  hedgerow as unknown as Whole;
