/** `hedgerow/slim`: for runtimes where the WebAssembly module is had in a way of their own. */
export * from "../index.js";
export { instantiate } from "../module.js";
