// The first hit of a process: `first-hit.mjs DIRECTORY SOURCE [DIGEST]`. Prints the milliseconds of opening the cache
// and of the hit as JSON.
import { ImageCache } from "../../../js/snapshot/dist/index.js";

const [, , directory = "", source = "", digest] = process.argv;
const begin = performance.now();
const cache = await ImageCache.open(directory, { maxBytes: 2 ** 40 });
const opened = performance.now();
const { hit } = await cache.get(source, { digest });
const got = performance.now();
if (!hit) throw new Error("expected a hit, found a miss");
await cache.close();
console.log(JSON.stringify({ open: opened - begin, get: got - opened }));
