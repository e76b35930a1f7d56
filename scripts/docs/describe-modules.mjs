// A plugin of typedoc: a module is called what one writes to import it, and described by the comment
// that its source begins with, as all sources here do. Runs in the folder of the package.
import { readFileSync } from "node:fs";

import { entriesOf } from "./entries.mjs";

/** @param {any} app typedoc's types are there only where docs are built */
export async function load(app) {
  const { Comment } = await import(/** @type {string} */ ("typedoc"));
  const entries = new Map(entriesOf(".").map((entry) => [entry.module, entry]));
  app.converter.on("resolveBegin", (/** @type {any} */ { project }) => {
    for (const module of project.children) {
      const { specifier = "", source = "" } = entries.get(module.name) ?? {};
      const text = firstComment(readFileSync(source, "utf8"));
      module.name = specifier;
      if (text !== undefined) module.comment = new Comment([{ kind: "text", text }]);
    }
  });
}

/** The comment before all else but references. @param {string} source */
function firstComment(source) {
  const comment = /^(?:\/\/\/.*\n)*\/\*\*(.+?)\*\//s.exec(source)?.[1];
  return comment?.replaceAll(/^\s*\* ?/gm, "").trim();
}
