/**
 * The whole package as one file. `package.json` exports it with the types of `main.ts` only; the other
 * exports are for the entries, the adapters and the tests.
 */
export * from "../build/index.js";
export * from "./bundle.js";
