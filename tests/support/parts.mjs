// Generated parts of documents, between marks that name them: `<!-- name -->` and `<!-- /name -->`.
import { readFileSync, writeFileSync } from "node:fs";

import { inRoot } from "../../scripts/lib/paths.mjs";

const blockOf = (/** @type {string} */ name) =>
  new RegExp(`(<!-- ${name} -->\\n)(.*?)(<!-- /${name} -->)`, "s");

/** Returns a part as the document has it. @param {string} document @param {string} name */
export function writtenPart(document, name) {
  const [, , part = ""] = blockOf(name).exec(readFileSync(inRoot(document), "utf8")) ?? [];
  return part;
}

/** Replaces a part of a document. @param {string} document @param {string} name @param {string} part */
export function writePart(document, name, part) {
  const text = readFileSync(inRoot(document), "utf8");
  writeFileSync(
    inRoot(document),
    text.replace(blockOf(name), (_, begin, __, end) => begin + part + end),
  );
}
