/**
 * Everything, as one file. The package exports it with the types of `entries/main.ts` alone: what else is
 * here, its other entries use, and its tests.
 */
export * from "./build/index.js";
export * from "./whole.js";
