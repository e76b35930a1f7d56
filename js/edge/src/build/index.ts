/** Building of filters: a file apart where that keeps its module out of what does not build. */
export * from "./build-path-filter.js";
export * from "./measure-path-filter.js";
export * from "./module.js";
