/**
 * The whole package except filter building, bundled into one file because each file takes runtimes time to load.
 * Entries and adapters import this bundle: see `scripts/lib/bundle-edge.mjs`.
 */

export * from "../error.js";
export * from "../events.js";
export * from "../headers/compiled-rules.js";
export { rulesOf } from "../headers/header-stripper.js";
export * from "../module.js";
export * from "../paths/filter-file.js";
export * from "../paths/guard-paths.js";
export * from "../paths/key-writer.js";
export * from "../paths/path-filter.js";
export * from "./requests.js";
