/** Links and images of Markdown files, and their anchors. */
import GithubSlugger from "github-slugger";
import { toString as textOf } from "mdast-util-to-string";
import { visit } from "unist-util-visit";

import { readMarkdown } from "./markdown.js";

export interface Link {
  readonly url: string;
  readonly line: number;
}

/** Returns the links and images of a document, including those in HTML. */
export function linksOf(document: string): Link[] {
  const links: Link[] = [];
  visit(readMarkdown(document), (node) => {
    const line = node.position?.start.line ?? 0;
    if (node.type === "link" || node.type === "image" || node.type === "definition") {
      links.push({ url: node.url, line });
    } else if (node.type === "html") {
      for (const [, url = ""] of node.value.matchAll(/\b(?:href|src|srcset)="([^"]*)"/g)) {
        links.push({ url, line });
      }
    }
  });
  return links;
}

/** Anchors by document; many links lead to the same few. */
const known = new Map<string, ReadonlySet<string>>();

/** Returns the anchors of a document: those of its headings on GitHub, and those in HTML. */
export function anchorsOf(document: string): ReadonlySet<string> {
  const anchors = known.get(document) ?? readAnchors(document);
  known.set(document, anchors);
  return anchors;
}

function readAnchors(document: string): Set<string> {
  const slugger = new GithubSlugger();
  const anchors = new Set<string>();
  visit(readMarkdown(document), (node) => {
    if (node.type === "heading") {
      anchors.add(slugger.slug(textOf(node)));
    } else if (node.type === "html") {
      for (const [, name = ""] of node.value.matchAll(/\b(?:id|name)="([^"]*)"/g))
        anchors.add(name);
    }
  });
  return anchors;
}
