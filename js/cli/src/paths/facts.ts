import { PathFilter } from "hedgerow";

import { grouped } from "../print.js";

/** Returns the parameters of a filter, as `--json` prints them. */
export function factsOf(file: Uint8Array) {
  const filter = PathFilter.parse(file);
  const { version, bloom, fuse, wildcards = 0 } = filter.params;
  filter.free();
  const facts = { version, wildcards, bytes: file.byteLength };
  return bloom
    ? { ...facts, kind: "bloom" as const, ...bloom }
    : { ...facts, kind: "fuse" as const, ...fuse };
}

/** Returns a line about a filter, without a line end. */
export function summary(file: Uint8Array): string {
  const facts = factsOf(file);
  const { n, m, bytes } = facts;
  const each = (bytes / n).toFixed(1);
  const size = `${grouped(n)} paths → ${grouped(bytes)} bytes (${each} bytes a path)`;
  return facts.kind === "bloom"
    ? `${size}, p = ${facts.p}, m = ${grouped(m)}, k = ${facts.k}`
    : `${size}, p = 2^-24, m = ${grouped(m)}, fuse`;
}
