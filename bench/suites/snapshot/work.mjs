// Creates or restores a snapshot: `work.mjs create|restore FROM TO WORKERS`. Prints its peak memory in bytes.
import { createSnapshot, restoreSnapshot } from "../../../js/snapshot/dist/index.js";

const [, , work, from = "", to = "", workers] = process.argv;
const action = work === "create" ? createSnapshot : restoreSnapshot;
await action(from, to, { workers: Number(workers) });
console.log(process.resourceUsage().maxRSS * 1024);
