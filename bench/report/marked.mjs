// Documents whose generated parts stand between marks that name them: `<!-- name -->` and `<!-- /name -->`.
import { StepError } from "../../scripts/lib/run.mjs";

/**
 * A document with its parts in their places: blocks on lines of their own, others within theirs.
 *
 * @param {string} document its name, for errors
 * @param {string} text
 * @param {Map<string, string>} parts
 */
export function filled(document, text, parts) {
  let result = text;
  for (const [name, part] of parts) {
    const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
    const from = result.indexOf(begin);
    const to = result.indexOf(end, from);
    if (from < 0 || to < 0) throw new StepError(`${document} has no place for ${begin} … ${end}`);
    const content = part.endsWith("\n") ? `\n\n${part}\n` : part;
    result = result.slice(0, from + begin.length) + content + result.slice(to);
  }
  return result;
}

/** The names of the marks in a document. @param {string} text */
export function marksIn(text) {
  return [...text.matchAll(/<!-- \/(.+?) -->/g)].map(([, name = ""]) => name);
}
