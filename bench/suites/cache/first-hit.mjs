// The first that a process does with a cache: `first-hit.mjs DIRECTORY SOURCE [DIGEST]`. Prints how many
// milliseconds it took to open it, and to get an image that is there, as JSON.
import { ImageCache } from "../../../js/snapshot/dist/index.js";
import { ROOMY } from "./plan.mjs";

const [, , directory = "", source = "", digest] = process.argv;
const begin = performance.now();
const cache = await ImageCache.open(directory, { maxBytes: ROOMY });
const opened = performance.now();
const { hit } = await cache.get(source, { digest });
const got = performance.now();
if (!hit) throw new Error("expected the image in the cache");
await cache.close();
console.log(JSON.stringify({ open: opened - begin, get: got - opened }));
