// Restores a snapshot: `restore.mjs URL IMAGE [OPTIONS]` with options as JSON. Prints its counters and resource usage
// as JSON.
import { restoreSnapshot } from "../../../js/snapshot/dist/index.js";

const [, , url = "", image = "", options = "{}"] = process.argv;
const counts = { retries: 0, hedged: 0 };
await restoreSnapshot(url, image, {
  ...JSON.parse(options),
  onProgress: ({ retries, hedged }) => Object.assign(counts, { retries, hedged }),
});
const { maxRSS, userCPUTime, systemCPUTime } = process.resourceUsage();
const processor = (userCPUTime + systemCPUTime) / 1000;
console.log(JSON.stringify({ ...counts, memory: maxRSS * 1024, processor }));
