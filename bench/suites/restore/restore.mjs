// Restores a snapshot: `restore.mjs URL IMAGE [OPTIONS] [TIMES]` with options as JSON. Prints its counters and resource
// usage as JSON, and the processor time of each time.
import { restoreSnapshot } from "../../../js/snapshot/dist/index.js";

const [, , url = "", image = "", options = "{}", times = "1"] = process.argv;
const counts = { retries: 0, hedged: 0 };
const each = [];
/** Returns the processor time of the process, in milliseconds. */
const processorTime = () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  return (userCPUTime + systemCPUTime) / 1000;
};
while (each.length < Number(times)) {
  const before = processorTime();
  await restoreSnapshot(url, image, {
    ...JSON.parse(options),
    onProgress: ({ retries, hedged }) => Object.assign(counts, { retries, hedged }),
  });
  each.push(processorTime() - before);
}
const memory = process.resourceUsage().maxRSS * 1024;
console.log(JSON.stringify({ ...counts, memory, processor: processorTime(), each }));
