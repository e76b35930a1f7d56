// THIRD-PARTY-NOTICES.txt: what others wrote that is inside an npm package, and the texts of its licences, which
// ask to be in every copy.
import { existsSync, readFileSync, writeFileSync } from "node:fs";

import { inRoot } from "../lib/paths.mjs";
import { StepError, step } from "../lib/run.mjs";
import { PUBLISHED } from "./packages.mjs";
import { embeddedIn, manifest } from "./shipped.mjs";
import { inOneLine, textsOf } from "./texts.mjs";

/** @typedef {import("./shipped.mjs").Part} Part */

/** What the file is called in each package that needs it. */
export const NOTICES = "THIRD-PARTY-NOTICES.txt";

const RULE = "=".repeat(80);

/** The published packages that have others' code inside. */
export const withNotices = () => PUBLISHED.filter((folder) => embeddedIn(folder).length > 0);

/** Writes the files anew. */
export function writeNotices() {
  for (const folder of withNotices()) {
    writeFileSync(inRoot(folder, NOTICES), notices(folder));
    step(`written: ${folder}/${NOTICES}`);
  }
}

/** Checks that the files are as they would be written, and that they are published. */
export function checkNotices() {
  step("notices of what is inside");
  for (const folder of withNotices()) {
    const file = inRoot(folder, NOTICES);
    if (!existsSync(file) || readFileSync(file, "utf8") !== notices(folder)) {
      throw new StepError(`${folder}/${NOTICES} is not current: npm run audit -- --write`);
    }
    if (!manifest(folder).files.includes(NOTICES)) {
      throw new StepError(`${folder}/package.json: "files" lacks ${NOTICES}`);
    }
  }
}

/** @param {string} folder */
function notices(folder) {
  const parts = embeddedIn(folder);
  const list = parts.map((part) => `  ${titleOf(part)}: ${part.licence}`).join("\n");
  const texts = textsWithOwners(parts).map(
    ({ owners, text }) => `${RULE}\n${owners.map(titleOf).join("\n")}\n${RULE}\n\n${text}\n`,
  );
  return `Third-party notices of the npm package ${manifest(folder).name}

The package itself is licensed under MIT or Apache-2.0: see LICENSE-MIT and LICENSE-APACHE.
Its WebAssembly has code that others wrote:

${list}

Below are the texts of these licences; where there is a choice, of the one that is taken.

${texts.join("\n")}`;
}

/** @param {Part} part */
const titleOf = ({ name, version }) => `${name} ${version}`;

/** Each text once, with those whose it is. @param {Part[]} parts */
function textsWithOwners(parts) {
  /** @type {Map<string, { owners: Part[], text: string }>} */
  const found = new Map();
  for (const part of parts) {
    for (const text of textsOf(part)) {
      const entry = found.get(inOneLine(text)) ?? { owners: [], text: tidy(text) };
      entry.owners.push(part);
      found.set(inOneLine(text), entry);
    }
  }
  return [...found.values()];
}

/** As it is, but for the ends of lines and empty lines around it. @param {string} text */
const tidy = (text) =>
  text
    .replace(/[^\S\n]+$/gm, "")
    .replace(/^\n+/, "")
    .trimEnd();
