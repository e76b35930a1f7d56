// Restores a snapshot through a cache: `restore.mjs URL IMAGE DIRECTORY DIGEST [new]`. With `new`, creates a cache in
// the directory.
import { mkdtempSync } from "node:fs";
import { join } from "node:path";

import { ImageCache, restoreSnapshot } from "../../../js/snapshot/dist/index.js";
import { WORKERS } from "../restore/plan.mjs";
import { NO_EVICTION } from "./plan.mjs";

const [, , url = "", image = "", folder = "", digest, isNew] = process.argv;
const directory = isNew === undefined ? folder : mkdtempSync(join(folder, "new-"));
const cache = await ImageCache.open(directory, { maxBytes: NO_EVICTION });
const { hit } = await restoreSnapshot(url, image, { cache, digest, workers: WORKERS });
if (hit !== (isNew === undefined)) throw new Error(`expected ${hit ? "a miss" : "a hit"}`);
await cache.close();
