/** All documents, and the test file that runs the blocks of each; a new document must be in a group. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";

import { inRoot, root } from "../../scripts/lib/paths.mjs";

/** The documents of each test file; the first match counts. */
const GROUPS = {
  readme: /^(README|CONTRIBUTING)\.md$/,
  packages: /^(js|crates)\/[^/]+\/README\.md$/,
  examples: /^examples\/[^/]+\/README\.md$/,
  "guides-edge": /^docs\/guides\/(headers|paths|rollout)\.md$/,
  guides: /^docs\/guides\//,
  references: /^docs\//,
} as const;

export type Group = keyof typeof GROUPS;

export const markdownFiles = (): string[] => listFiles("*.md");

/** Returns files that git does not ignore, relative to the root of the repository. */
export function listFiles(pattern: string): string[] {
  const args = ["ls-files", "--cached", "--others", "--exclude-standard", "-z", pattern];
  const files = execFileSync("git", args, { cwd: root, encoding: "utf8" }).split("\0");
  return [...new Set(files)].filter((file) => file !== "" && existsSync(inRoot(file))).sort();
}

/** Returns the test file that runs the blocks of a document, if one does. */
export const groupOf = (document: string): Group | undefined =>
  (Object.keys(GROUPS) as Group[]).find((group) => GROUPS[group].test(document));

export const documentsOf = (group: Group): string[] =>
  markdownFiles().filter((document) => groupOf(document) === group);
