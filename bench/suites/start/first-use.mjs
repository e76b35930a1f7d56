// The first use of a package in a process: `first-use.mjs MODULE INPUT [BEFORE]`. Prints the milliseconds of the import
// and of the use as JSON. BEFORE is a module that is imported before the clock starts. No package is loaded earlier.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [, , module = "", folder = "", before] = process.argv;
if (before !== undefined) await import(pathToFileURL(before).href);
const rest = JSON.parse(readFileSync(join(folder, "input.json"), "utf8"));
const input = { ...rest, filter: new Uint8Array(readFileSync(join(folder, "paths.filter"))) };
const { href } = pathToFileURL(module);
const begin = performance.now();
const { use } = await import(href);
const imported = performance.now();
const works = await use(input);
const used = performance.now();
if (works !== true) throw new Error(`${module} returned a wrong result`);
console.log(JSON.stringify({ import: imported - begin, use: used - imported }));
