import { compiledOnce } from "./module.js";

/** Compiles `encode.wasm`, which creates snapshots. Programs that only read them do not import this file. */
// @ts-expect-error The build writes this module: the bytes as Base64.
export const compiledEncode = compiledOnce(() => import("./encode-module.js"));
