// Imported first, it has `koffi` not be there, so that images are read as a whole.
import { register } from "node:module";

const hooks = `export async function resolve(specifier, context, next) {
  if (specifier === "koffi") throw new Error("left out");
  return next(specifier, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
