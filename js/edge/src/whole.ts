/**
 * Everything but the building of filters, as one file, since a runtime takes its time for each that it
 * reads: what entries and adapters are made of. `scripts/lib/bundle-edge.mjs` lets each of their imports
 * lead to it.
 */
import "./entries/instance.js";

export { RuleSet } from "../wasm/edge.js";
export * from "./compile.js";
export * from "./entries/requests.js";
export * from "./error.js";
export * from "./headers/compiled-rules.js";
export * from "./headers/confirmations.js";
export * from "./module.js";
export * from "./options.js";
export * from "./paths/filter-file.js";
export * from "./paths/guard-paths.js";
export * from "./paths/key-writer.js";
export * from "./paths/path-check.js";
export * from "./paths/path-filter.js";
