// Runs `hedgerow disk collect` with the arguments of this script. Then prints the peak memory in bytes and the number of
// requests on standard error, as JSON.
import { subscribe } from "node:diagnostics_channel";

import { inRoot } from "../../../scripts/lib/paths.mjs";

let requests = 0;
subscribe("http.client.request.start", () => {
  requests += 1;
});
process.on("exit", () => {
  const memory = process.resourceUsage().maxRSS * 1024;
  console.error(JSON.stringify({ memory, requests }));
});
process.argv.splice(2, 0, "disk", "collect");
await import(inRoot("js", "cli", "bin", "hedgerow.js"));
