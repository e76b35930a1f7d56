/** Filter building, bundled separately for runtimes whose bundlers include every imported module. */
export * from "./build-path-filter.js";
export * from "./merge-path-filters.js";
