/** All documents, and the test file that runs the blocks of each; a new document must be in a group. */
import { listFiles } from "../../scripts/lib/run.mjs";

/** The documents of each test file; the first match counts. */
const GROUPS = {
  readme: /^(README|CONTRIBUTING|site\/index)\.md$/,
  packages: /^(js|crates)\/[^/]+\/README\.md$/,
  examples: /^examples\/[^/]+\/README\.md$/,
  "guides-edge": /^docs\/guides\/(headers|paths|rollout)\.md$/,
  guides: /^docs\/guides\//,
  references: /^docs\//,
} as const;

export type Group = keyof typeof GROUPS;

export const markdownFiles = (): string[] => listFiles("*.md");

/** Returns the test file that runs the blocks of a document, if one does. */
export const groupOf = (document: string): Group | undefined =>
  (Object.keys(GROUPS) as Group[]).find((group) => GROUPS[group].test(document));

export const documentsOf = (group: Group): string[] =>
  markdownFiles().filter((document) => groupOf(document) === group);
