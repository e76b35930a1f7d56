/** Parses Markdown as GitHub does. */
import { readFileSync } from "node:fs";
import type { Root } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmFromMarkdown } from "mdast-util-gfm";
import { gfm } from "micromark-extension-gfm";

import { inRoot } from "../../scripts/lib/paths.mjs";

/** Parsed documents; many links lead to the same few. */
const trees = new Map<string, Root>();

/** Returns the syntax tree of a document, given its path from the root of the repository. */
export function readMarkdown(document: string): Root {
  const known = trees.get(document);
  if (known !== undefined) return known;
  const text = readFileSync(inRoot(document), "utf8");
  const tree = fromMarkdown(text, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] });
  trees.set(document, tree);
  return tree;
}
