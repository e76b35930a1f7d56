/**
 * Everything, as one file, since a runtime takes its time for each that it reads. The package exports it
 * with the types of `entries/main.ts` alone: what else is here, its other entries use, and its tests.
 * `scripts/lib/bundle-edge.mjs` lets each of their imports lead to it.
 */
export { RuleSet } from "../wasm/edge.js";
export { buildMemory } from "./build/module.js";
export * from "./compile.js";
export * from "./entries/main.js";
export * from "./headers/compiled-rules.js";
export * from "./headers/confirmations.js";
export * from "./module.js";
export * from "./options.js";
export * from "./paths/filter-file.js";
export * from "./paths/guard-paths.js";
export * from "./paths/key-writer.js";
export * from "./paths/path-check.js";
export * from "./paths/path-filter.js";
