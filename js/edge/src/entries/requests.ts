/** The exports that handle requests, which every entry has. Only the main entry also builds filters. */
export { HedgerowError, type HedgerowErrorCode } from "../error.js";
export { explainField, type FieldDecision } from "../headers/explain-field.js";
export { HeaderStripper, type HeaderStripperOptions } from "../headers/header-stripper.js";
export { type PresetDirection, type PresetName, preset } from "../headers/presets.js";
export {
  canExist,
  guardPaths,
  type PathGuard,
  type PathGuardOptions,
  type PathLookup,
  type Paths,
} from "../paths/guard-paths.js";
export { normalizePath } from "../paths/normalize-path.js";
export {
  type BloomParams,
  type FuseParams,
  PathFilter,
  type PathFilterParams,
  type PathFilterReading,
} from "../paths/path-filter.js";
export { PathFilterStore, type PathFilterStoreOptions } from "../paths/path-filter-store.js";
export { PathSet } from "../paths/path-set.js";
