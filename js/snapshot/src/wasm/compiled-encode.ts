import { compiledOnce } from "./module.js";

/** Compiles `encode.wasm`, which creates snapshots. Programs that only read them do not import this file. */
export const compiledEncode = compiledOnce(() => import("./encode-module.js"));
