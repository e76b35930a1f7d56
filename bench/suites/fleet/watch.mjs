// Watches a fleet: `node --expose-gc watch.mjs URL`. Prints the duration of `Residency.watch` in milliseconds, the bytes
// that it keeps, those of the whole process at its peak, and how many images of how many hosts it knows, as JSON.
import { createClient } from "@redis/client";

import { Residency } from "../../../js/fleet/dist/index.js";

const [, , url = ""] = process.argv;
const client = await createClient({ url })
  .on("error", () => {})
  .connect();
const before = kept();
const begun = performance.now();
const residency = await Residency.watch({ client });
const duration = performance.now() - begun;
if (!residency.isCurrent) throw new Error("the picture is not current");
const peak = process.resourceUsage().maxRSS * 1024;
const memory = kept() - before;
const hosts = residency.hosts();
const images = hosts.reduce((sum, host) => sum + host.images, 0);
console.log(JSON.stringify({ duration, memory, peak, hosts: hosts.length, images }));
await residency.close();
client.destroy();

/** Returns the bytes that are in use after a collection of garbage. */
function kept() {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
