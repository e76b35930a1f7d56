// Makes the import of `koffi` fail, so that images are read without querying holes. Import it first.
import { register } from "node:module";

const hooks = `export async function resolve(specifier, context, next) {
  if (specifier === "koffi") throw new Error("left out");
  return next(specifier, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
