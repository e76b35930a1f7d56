// Restores a snapshot through a cache, in a process of its own: `restore.mjs URL IMAGE DIRECTORY DIGEST
// [new]`. With `new`, the cache is a new one, in the directory.
import { mkdtempSync } from "node:fs";
import { join } from "node:path";

import { ImageCache, restoreSnapshot } from "../../../js/snapshot/dist/index.js";
import { WORKERS } from "../restore/plan.mjs";
import { ROOMY } from "./plan.mjs";

const [, , url = "", image = "", folder = "", digest, isNew] = process.argv;
const directory = isNew === undefined ? folder : mkdtempSync(join(folder, "new-"));
const cache = await ImageCache.open(directory, { maxBytes: ROOMY });
const { hit } = await restoreSnapshot(url, image, { cache, digest, workers: WORKERS });
if (hit !== (isNew === undefined)) throw new Error("expected a hit of a cache that was filled");
await cache.close();
