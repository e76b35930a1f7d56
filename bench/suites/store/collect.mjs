// Collects a store: `collect.mjs PLACE S3-OPTIONS [--dry-run]`. Prints the duration in milliseconds, the peak memory in
// bytes, the number of requests, and the numbers of deleted and marked snapshots, as JSON.
import { subscribe } from "node:diagnostics_channel";

import { DiskStore } from "../../../js/snapshot/dist/index.js";

const [, , place = "", options = "{}", dryRun] = process.argv;
const store = await DiskStore.open(place, { s3: JSON.parse(options) });
let requests = 0;
subscribe("http.client.request.start", () => {
  requests += 1;
});
const { duration, deleted, marked } = await store.collect({ dryRun: dryRun !== undefined });
await store.close();
const memory = process.resourceUsage().maxRSS * 1024;
console.log(JSON.stringify({ duration, memory, requests, deleted: deleted.length, marked }));
