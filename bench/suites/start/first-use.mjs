// The first use of a package in a process: `first-use.mjs MODULE INPUT [BEFORE]`. Prints how many milliseconds it
// took to import the module, and to use it, as JSON. BEFORE is a module that is imported before the clock runs.
import { pathToFileURL } from "node:url";

import { readInput } from "./input.mjs";

const [, , module = "", folder = "", before] = process.argv;
if (before !== undefined) await import(pathToFileURL(before).href);
const input = readInput(folder);
const { href } = pathToFileURL(module);
const begin = performance.now();
const { use } = await import(href);
const imported = performance.now();
const works = await use(input);
const used = performance.now();
if (works !== true) throw new Error(`${module}: did not work`);
console.log(JSON.stringify({ import: imported - begin, use: used - imported }));
