/** All documents, and the test file that runs the blocks of each; a new document must be in a group. */
import { listFiles } from "../../scripts/lib/run.mjs";
import { blocksOf } from "./blocks.js";

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

/** Returns whether a document has blocks to run or to check. */
const hasBlocks = (document: string) => blocksOf(document).some(({ kind }) => kind !== "drawing");

export const documentsWithBlocks = (): string[] => markdownFiles().filter(hasBlocks);

/** Returns the test file that runs the blocks of a document, if one does. */
export const groupOf = (document: string): Group | undefined =>
  (Object.keys(GROUPS) as Group[]).find((group) => GROUPS[group].test(document));

/** The documents to run. Default: all. */
const CHOSEN = process.env.HEDGEROW_DOCUMENTS?.split(" ");

/** Returns the documents to run of a group. */
export const documentsOf = (group: Group): string[] =>
  (CHOSEN ?? markdownFiles()).filter(
    (document) => groupOf(document) === group && hasBlocks(document),
  );

/** Returns the groups that have documents to run. */
export const groupsToRun = (): Group[] =>
  (Object.keys(GROUPS) as Group[]).filter(
    (group) => CHOSEN === undefined || documentsOf(group).length > 0,
  );
