// Reads the workloads of header names: one request per line, names separated by spaces.
import { readFileSync } from "node:fs";

import { inRoot } from "./paths.mjs";

/** @param {string} name */
const linesOf = (name) =>
  readFileSync(inRoot("corpora", "headers", `${name}.txt`), "utf8")
    .trim()
    .split("\n");

/** The names of internal headers. */
export const internalNames = () => linesOf("internal");

/**
 * The names of each request of a workload: `real`, `uniform` or `near`.
 *
 * @param {string} workload
 */
export const requests = (workload) => linesOf(workload).map((line) => ({ names: line.split(" ") }));

/** Ten prefix rules as operators add them, the same as in the native benchmark. */
export const prefixRules = () => linesOf("prefix-rules");
