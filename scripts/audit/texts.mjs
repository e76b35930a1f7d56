// The texts of the licences that others' code is taken under, from the files beside its sources.
import { readFileSync } from "node:fs";
import { basename } from "node:path";

import { StepError } from "../lib/run.mjs";
import { allowedLicences } from "./allowed.mjs";
import { licenceFiles, sourcesOf } from "./cargo.mjs";
import { chosen } from "./expression.mjs";

/** @typedef {import("./shipped.mjs").Part} Part */

const APACHE = /Apache License Version 2\.0, January 2004/i;
const LLVM = /LLVM Exceptions to the Apache 2\.0 License/i;

/**
 * How the text of a licence is known, whatever its file is called and wherever its lines break.
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

/** What stands where whoever uses the text of a licence writes who they are. */
const BLANK = "<year> <copyright holders>";

/**
 * The texts of the licences that a part is taken under, and the notices that have to be passed on.
 *
 * @param {Part} part
 * @returns {string[]}
 */
export function textsOf(part) {
  const names = chosen(part.licence, allowedLicences());
  if (names === undefined) throw new StepError(`${part.name}: ${part.licence} is not allowed`);
  const files = part.files ?? licenceFiles(sourcesOf(part));
  const read = files.map((file) => ({ file, text: filled(readFileSync(file, "utf8"), part) }));
  for (const name of names) {
    if (!read.some(({ text }) => isText(text, name))) {
      throw new StepError(`${part.name} ${part.version}: found no text of ${name}`);
    }
  }
  const wanted = read.filter(
    ({ file, text }) => /^notice/i.test(basename(file)) || names.some((name) => isText(text, name)),
  );
  return wanted.map(({ text }) => text);
}

/** Whether a text has that of a licence. @param {string} text @param {string} name */
const isText = (text, name) => SIGNS[name]?.(inOneLine(text)) ?? false;

/** A text without its line breaks and indentation, in which copies differ. @param {string} text */
export const inOneLine = (text) => text.replace(/\s+/g, " ").trim();

/** @param {string} text @param {Part} part */
function filled(text, { name, holders = BLANK }) {
  const result = text.replace(BLANK, holders);
  if (result.includes(BLANK)) throw new StepError(`${name}: its licence does not say whose it is`);
  return result;
}
