/** Links and images of Markdown files, and the anchors that they may lead to. */
import GithubSlugger from "github-slugger";
import { toString as textOf } from "mdast-util-to-string";
import { visit } from "unist-util-visit";

import { readMarkdown } from "./markdown.js";

export interface Link {
  readonly url: string;
  readonly line: number;
}

/** Where a document leads: links, images, and what HTML in it names. */
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

/** Anchors by documents: some are led to very often. */
const known = new Map<string, ReadonlySet<string>>();

/** The anchors of a document: those that GitHub makes of its headings, and those that HTML names. */
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
