import { compiledOnce } from "./module.js";

/** Compiles `decode.wasm`, which reads snapshots. */
// @ts-expect-error The build writes this module: the bytes as Base64.
export const compiledDecode = compiledOnce(() => import("./decode-module.js"));
