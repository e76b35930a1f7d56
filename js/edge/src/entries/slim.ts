/** `hedgerow/slim`: for runtimes that load the WebAssembly modules themselves. */

export { stripBlock } from "../block/strip-block.js";
export { instantiate, type Modules } from "../instantiate.js";
export * from "./requests.js";
