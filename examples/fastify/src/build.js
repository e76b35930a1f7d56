// Builds a filter of all paths that the API answers: its records and its routes.
import { readdirSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { buildPathFilter, normalizePath } from "hedgerow";

const names = readdirSync(new URL("../plants", import.meta.url));
const records = names.map((name) => `/plants/${encodeURIComponent(basename(name, ".json"))}`);
const paths = ["/headers", ...records].map(normalizePath);
writeFileSync(new URL("../paths.filter", import.meta.url), buildPathFilter(paths));
console.log(`${paths.length} paths`);
