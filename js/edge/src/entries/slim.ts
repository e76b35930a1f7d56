/** `hedgerow/slim`: for runtimes where the WebAssembly module is had in a way of their own. */

export { instantiate } from "../module.js";
export * from "./requests.js";
