// A host: restores a snapshot into a cache of its own when a line arrives: `tier-host.mjs CACHE SOURCE OPTIONS` with
// options of `ImageCache.get` as JSON. Prints a line when it is ready, and then the milliseconds and requests that it
// took as JSON.
import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";

import { ImageCache } from "../../../js/snapshot/dist/index.js";

const [, , directory = "", source = "", options = "{}"] = process.argv;
const cache = await ImageCache.open(directory, { maxBytes: 2 ** 40 });
let requests = 0;
subscribe("hedgerow:snapshot:request", () => {
  requests += 1;
});
console.log("ready");
await once(process.stdin, "data");
const begin = performance.now();
const lease = await cache.get(source, JSON.parse(options));
const elapsed = performance.now() - begin;
await lease.release();
await cache.close();
console.log(JSON.stringify({ elapsed, requests }));
process.exit();
