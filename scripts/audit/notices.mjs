// The licences of all third-party code that is shipped or installed, and THIRD-PARTY-NOTICES.txt: the texts of those
// inside an npm package, which every copy must carry. Where a licence is a choice, this chooses.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { basename } from "node:path";

import parse from "spdx-expression-parse";

import { inRoot } from "../lib/paths.mjs";
import { StepError, step } from "../lib/run.mjs";
import { PUBLISHED } from "./lockfiles.mjs";
import { embeddedIn, licenceFiles, manifest, shipments, sourcesOf } from "./shipped.mjs";

/** @typedef {import("./shipped.mjs").Part} Part */

/** Name of the file in each package that needs it. */
export const NOTICES = "THIRD-PARTY-NOTICES.txt";

const RULE = "=".repeat(80);

const APACHE = /Apache License Version 2\.0, January 2004/i;
const LLVM = /LLVM Exceptions to the Apache 2\.0 License/i;

/**
 * Recognises the text of a licence, whatever its file name and line breaks.
 *
 * @type {Record<string, (text: string) => boolean>}
 */
const SIGNS = {
  "Apache-2.0": (text) => APACHE.test(text) && !LLVM.test(text),
  "Apache-2.0 WITH LLVM-exception": (text) => APACHE.test(text) && LLVM.test(text),
  "BSD-3-Clause": (text) => /Redistributions in binary form must.* Neither the name/.test(text),
  MIT: (text) => /The above copyright notice and this permission notice shall be/.test(text),
  "Unicode-3.0": (text) => /UNICODE LICENSE V3/.test(text),
};

/** Placeholder for the copyright holders in a licence template. */
const BLANK = "<year> <copyright holders>";

/** Fails if anything shipped has a licence that deny.toml does not allow. */
export function checkLicences() {
  step("licences of what is shipped");
  const allowed = allowedLicences();
  const refused = shipments().flatMap(({ what, parts }) =>
    parts
      .filter(({ licence }) => chosen(licence, allowed) === undefined)
      .map(({ name, version, licence }) => `${name} ${version}, ${what}: ${licence}`),
  );
  if (refused.length > 0) {
    throw new StepError(`licences that deny.toml does not allow:\n${refused.join("\n")}`);
  }
}

/** Returns the published packages that contain third-party code. */
export const withNotices = () => PUBLISHED.filter((folder) => embeddedIn(folder).length > 0);

/** Writes the files. */
export function writeNotices() {
  for (const folder of withNotices()) {
    writeFileSync(inRoot(folder, NOTICES), notices(folder));
    step(`written: ${folder}/${NOTICES}`);
  }
}

/** Fails if a file is out of date or not published. */
export function checkNotices() {
  step("third-party notices");
  for (const folder of withNotices()) {
    const file = inRoot(folder, NOTICES);
    if (!existsSync(file) || readFileSync(file, "utf8") !== notices(folder)) {
      throw new StepError(`${folder}/${NOTICES} is out of date; run npm run audit -- --write`);
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
  /** @type {Map<string, { owners: Part[], text: string }>} */
  const texts = new Map();
  for (const part of parts) {
    for (const text of textsOf(part)) {
      const entry = texts.get(inOneLine(text)) ?? { owners: [], text: tidy(text) };
      entry.owners.push(part);
      texts.set(inOneLine(text), entry);
    }
  }
  const sections = [...texts.values()].map(
    ({ owners, text }) => `${RULE}\n${owners.map(titleOf).join("\n")}\n${RULE}\n\n${text}\n`,
  );
  return `Third-party notices of the npm package ${manifest(folder).name}

The package itself is licensed under MIT or Apache-2.0: see LICENSE-MIT and LICENSE-APACHE.
Its WebAssembly contains third-party code:

${list}

Their licence texts follow. Where a licence leaves a choice, this is the text of the one taken.

${sections.join("\n")}`;
}

/** @param {Part} part */
const titleOf = ({ name, version }) => `${name} ${version}`;

/** Trims line ends and surrounding empty lines. @param {string} text */
const tidy = (text) => text.replace(/[^\S\n]+$/gm, "").replace(/^\n+|\s+$/g, "");

/** Removes line breaks and indentation, in which copies of a text differ. @param {string} text */
export const inOneLine = (text) => text.replace(/\s+/g, " ").trim();

/**
 * Returns the texts of the licences under which a part is taken, and any NOTICE that must be passed on.
 *
 * @param {Part} part
 */
export function textsOf(part) {
  const names = chosen(part.licence, allowedLicences());
  if (names === undefined) throw new StepError(`${part.name}: ${part.licence} is not allowed`);
  const files = part.files ?? licenceFiles(sourcesOf(part));
  const read = files.map((file) => ({ file, text: filled(readFileSync(file, "utf8"), part) }));
  const isText = (/** @type {string} */ text, /** @type {string} */ name) =>
    SIGNS[name]?.(inOneLine(text)) ?? false;
  const missing = names.find((name) => !read.some(({ text }) => isText(text, name)));
  if (missing !== undefined)
    throw new StepError(`${part.name} ${part.version}: found no text of ${missing}`);
  return read
    .filter(
      ({ file, text }) => /^notice/i.test(basename(file)) || names.some((n) => isText(text, n)),
    )
    .map(({ text }) => text);
}

/** Fills in the copyright holders. @param {string} text @param {Part} part */
function filled(text, { name, holders = BLANK }) {
  const result = text.replace(BLANK, holders);
  if (result.includes(BLANK)) throw new StepError(`${name}: its licence names no copyright holder`);
  return result;
}

/** @typedef {import("spdx-expression-parse").Info} Info */

/** Licences that deny.toml allows, most preferred first: MIT asks for a single short text. */
export function allowedLicences() {
  const list = /^allow = \[([^\]]*)\]/m.exec(readFileSync(inRoot("deny.toml"), "utf8"))?.[1] ?? "";
  return new Set(["MIT", ...[...list.matchAll(/"([^"]+)"/g)].map(([, name = ""]) => name)]);
}

/**
 * Returns the most preferred licences that satisfy an expression, or `undefined` if no allowed licences do.
 *
 * @param {string} expression in SPDX; `/` is an old way to write `OR` in crates
 * @param {Iterable<string>} allowed names, including those with exceptions ("A WITH B"), most preferred first
 */
export function chosen(expression, allowed) {
  const ranks = [...allowed];
  const worst = (/** @type {string[]} */ names) => Math.max(...names.map((n) => ranks.indexOf(n)));
  /** @param {Info} info @returns {string[] | undefined} */
  const choose = (info) => {
    if ("license" in info) {
      const name = info.exception ? `${info.license} WITH ${info.exception}` : info.license;
      return ranks.includes(name) ? [name] : undefined;
    }
    const [left, right] = [choose(info.left), choose(info.right)];
    if (info.conjunction === "and") return left && right && [...new Set([...left, ...right])];
    return left && right && worst(right) < worst(left) ? right : (left ?? right);
  };
  let info;
  try {
    info = parse(expression.replaceAll("/", " OR "));
  } catch {
    return undefined;
  }
  return choose(info);
}
