// Makes or restores a snapshot, in a process of its own: `work.mjs create|restore FROM TO WORKERS`.
// Prints how much memory it took at most, in bytes.
import { createSnapshot, restoreSnapshot } from "../../../js/snapshot/dist/index.js";

const [, , work, from = "", to = "", workers] = process.argv;
const action = work === "create" ? createSnapshot : restoreSnapshot;
await action(from, to, { workers: Number(workers) });
console.log(process.resourceUsage().maxRSS * 1024);
