/** `hedgerow/block`: strips the bytes of HTTP/1.1 field lines. */
export { stripBlock } from "../block/strip-block.js";
