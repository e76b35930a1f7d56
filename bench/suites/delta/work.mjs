// Creates or restores a snapshot: `work.mjs create|restore FROM TO OPTIONS` with options as JSON:
// `cache` is a directory, `changed` a file of ranges as JSON, and `calls` the number of calls. Prints the milliseconds of
// the last call, the processor time of the process in milliseconds, and its peak memory in bytes, as JSON.
import { readFileSync } from "node:fs";

import { createSnapshot, ImageCache, restoreSnapshot } from "../../../js/snapshot/dist/index.js";
import { WORKERS } from "../restore/suite.mjs";
import { NO_EVICTION } from "./suite.mjs";

const [, , work, from = "", to = "", json = "{}"] = process.argv;
const { cache: directory, changed: file, calls = 1, ...rest } = JSON.parse(json);
const cache =
  directory === undefined ? undefined : await ImageCache.open(directory, { maxBytes: NO_EVICTION });
const options = { workers: WORKERS, ...rest };
if (cache !== undefined) options.cache = cache;
if (file !== undefined) options.changed = JSON.parse(readFileSync(file, "utf8"));

let call = 0;
for (let number = 0; number < calls; number += 1) {
  const begin = performance.now();
  if (work === "create") await createSnapshot(from, to, options);
  else await restoreSnapshot(from, to, options);
  call = performance.now() - begin;
}
await cache?.close();

const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
const [memory, processor] = [maxRSS * 1024, (userCPUTime + systemCPUTime) / 1000];
console.log(JSON.stringify({ call, memory, processor }));
