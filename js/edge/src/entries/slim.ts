/** `hedgerow/slim`: for runtimes that load the WebAssembly module themselves. */

export { instantiate } from "../module.js";
export * from "./requests.js";
