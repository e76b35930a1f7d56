// A parser of imports in WebAssembly.
import { init, parse } from "es-module-lexer";

/** @param {import("../subjects.mjs").Input} input */
export async function use({ path }) {
  await init;
  const [imports] = parse(`import "${path}";`);
  return imports.length === 1;
}
