import { compiledOnce } from "./module.js";

/** Compiles `decode.wasm`, which reads snapshots. */
export const compiledDecode = compiledOnce(() => import("./decode-module.js"));
