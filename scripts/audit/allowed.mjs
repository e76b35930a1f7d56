// The licences that what is shipped may have: those that deny.toml allows.
import { readFileSync } from "node:fs";

import { inRoot } from "../lib/paths.mjs";

/** Their names. Where there is a choice, MIT is taken: it asks for one short text. */
export function allowedLicences() {
  const list = /^allow = \[([^\]]*)\]/m.exec(readFileSync(inRoot("deny.toml"), "utf8"))?.[1] ?? "";
  return new Set(["MIT", ...[...list.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name)]);
}
