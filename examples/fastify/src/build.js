// Builds the filter of all paths that the API has an answer to: those of the records, and of its routes.
import { readdirSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { buildPathFilter, normalizePath } from "hedgerow";

const names = readdirSync(new URL("../plants", import.meta.url));
const records = names.map((name) => `/plants/${encodeURIComponent(basename(name, ".json"))}`);
const paths = ["/headers", ...records].map(normalizePath);
writeFileSync(new URL("../paths.filter", import.meta.url), buildPathFilter(paths));
console.log(`${paths.length} paths`);
