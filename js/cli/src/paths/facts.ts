import { PathFilter } from "hedgerow";

import { grouped } from "../print.js";

/** Returns the parameters of a filter, as `--json` prints them. */
export function factsOf(file: Uint8Array) {
  const filter = PathFilter.parse(file);
  const { version, bloom, wildcards = 0 } = filter.params;
  filter.free();
  return { version, ...bloom, wildcards, bytes: file.byteLength };
}

/** Returns a line about a filter, without a line end. */
export function summary(file: Uint8Array): string {
  const { n, p, m, k, bytes } = factsOf(file);
  const rate = (bytes / n).toFixed(1);
  return (
    `${grouped(n)} paths → ${grouped(bytes)} bytes (${rate} bytes a path), ` +
    `p = ${p}, m = ${grouped(m)}, k = ${k}`
  );
}
