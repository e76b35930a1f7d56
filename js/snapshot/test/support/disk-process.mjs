// Serves a disk over NBD until it is killed, or its standard input ends. Takes one argument: the source, the options, and
// where to listen, as JSON. Prints a line when clients can connect. Each line of its input is the path of a delta
// to save; prints a line when that is done.
import { createInterface } from "node:readline";

import { openSnapshot } from "@hedgerow/snapshot";

const { source, options, listen } = JSON.parse(process.argv[2] ?? "");
const disk = await openSnapshot(source, options);
await disk.listen(listen);
console.log("ready");
for await (const destination of createInterface({ input: process.stdin })) {
  await disk.save(destination);
  console.log("saved");
}
await disk.close();
