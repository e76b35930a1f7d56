// Finds phrases of a style that this project has left behind: inverted sentences and circumlocutions for terms of the
// field. A reminder, not a substitute for reading the text.
import { readFileSync } from "node:fs";

import { inRoot } from "./paths.mjs";
import { output, StepError, step } from "./run.mjs";

/** Each phrase, and what to write instead. Spaces match any white space, line breaks included. */
const PHRASES = [
  ["unless it is said( otherwise)?", "default: …"],
  [
    "(is|are|was|were) told (of|about|that|what|how|which|in)",
    "receives, is called with, is reported",
  ],
  ["tells? of", "reports, names, describes"],
  [
    "(has|have|had) (?!(to|its|their)\\b)((?!must|cannot|can|may|will)\\w+ ){1,3}(go|come|stay|be)\\b",
    "evicts, removes, keeps",
  ],
  ["(is|are|was|were) had", "obtained, available"],
  ["to be had", "available"],
  ["that there (is|are|was|were)( not)?(?=[.,;:)])", "existing, missing"],
  ["(?<!for )whoever", "the caller, the client, the user"],
  ["who(ever)? is on the way", "a man in the middle"],
  ["as many as pay", "adapts to the throughput"],
  ["how often in a row", "consecutive attempts"],
  [
    "(?:(?<=^|\\. )What|(?<=[:;] )what) [\\w' ]{1,40} (is|are|was|were|goes|stays|has|may)\\b",
    "name the actor first",
    "gm",
  ],
  [
    "(?:(?<=^|\\. )Who(ever)?|(?<=[:;] )who(ever)?) [\\w' ]{1,40} (is|are|was|has|may|gets|goes)\\b",
    "name the actor first",
    "gm",
  ],
  ["of one's own", "your own"],
  ["made anew", "made again, recreated"],
].map(([phrase = "", instead = "", flags = "gim"]) => ({
  pattern: new RegExp(`(?<!\\w)(?:${phrase})`.replaceAll(" ", "\\s+"), flags),
  instead,
}));

/** @typedef {{ line: number, found: string, instead: string }} Finding */

/**
 * Returns the phrases found in a text.
 *
 * @param {string} text
 * @param {"prose" | "comments" | "all"} scope Markdown without its code blocks, comments alone, or every line
 * @returns {Finding[]}
 */
export function findPhrases(text, scope) {
  let isCode = false;
  const lines = text.split("\n").map((line) => {
    if (scope === "prose") {
      if (/^\s*(```|~~~)/.test(line)) isCode = !isCode;
      return isCode ? "\u0000" : line;
    }
    const comment = /^\s*(?:\/\/[/!]?|\/\*\*?|\*|#)(?:\s|$)(.*)$/.exec(line)?.[1];
    return comment ?? (scope === "all" ? line : "\u0000");
  });
  const searched = lines.join("\n");
  return PHRASES.flatMap(({ pattern, instead }) =>
    [...searched.matchAll(pattern)].map((match) => ({
      line: searched.slice(0, match.index).split("\n").length,
      found: match[0].replace(/\s+/g, " "),
      instead,
    })),
  );
}

/** @param {string} file */
const scopeOf = (file) =>
  file.endsWith(".md") ? "prose" : file.startsWith("js/cli/src/") ? "all" : "comments";

/** Fails if a document, a comment or a text of the command contains a phrase. */
export function checkVoice() {
  step("words: documents, comments and the command's texts");
  const files = output("git", ["ls-files", "*.md", "*.rs", "*.ts", "*.mjs"]).trim().split("\n");
  const wrong = files
    .filter((file) => !file.includes("voice"))
    .flatMap((file) =>
      findPhrases(readFileSync(inRoot(file), "utf8"), scopeOf(file)).map(
        ({ line, found, instead }) => `${file}:${line}: "${found}" (${instead})`,
      ),
    );
  if (wrong.length > 0) throw new StepError(`reword:\n${wrong.join("\n")}`);
}
