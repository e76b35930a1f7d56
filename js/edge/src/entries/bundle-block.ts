/** `hedgerow/block` as a file of its own, with the exports that tests need. */
export * from "../block/module.js";
export * from "./block.js";
