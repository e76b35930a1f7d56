// Imports and requires every entry, and reports whether both are the same and where they come from.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const entries = process.argv.slice(2);
const found = {};
for (const entry of entries) {
  const imported = await import(entry);
  const required = require(entry);
  const names = Object.keys(imported);
  found[entry] = {
    isSame: names.length > 0 && names.every((name) => imported[name] === required[name]),
    from: import.meta.resolve(entry),
  };
}
console.log(JSON.stringify(found));
