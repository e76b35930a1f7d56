// TypeDoc plugin: names a module by its import specifier and describes it by the first comment of its source. Runs in
// the package's folder.
import { readFileSync } from "node:fs";

import { entriesOf } from "./api.mjs";

/** @param {any} app TypeDoc's types are only installed where docs are built */
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

/** Returns the first comment of a module, after reference directives. @param {string} source */
function firstComment(source) {
  const comment = /^(?:\/\/\/.*\n)*\/\*\*(.+?)\*\//s.exec(source)?.[1];
  return comment?.replaceAll(/^\s*\* ?/gm, "").trim();
}
