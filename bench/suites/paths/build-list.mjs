// Builds a filter of a list of paths in one process: `build-list.mjs LIST CAPACITY FILTER`.
import { createReadStream, writeFileSync } from "node:fs";

import { PathFilterBuilder } from "hedgerow";

const [, , list = "", capacity = "", filter = ""] = process.argv;
const builder = new PathFilterBuilder({ capacity: Number(capacity) });
let rest = "";
for await (const chunk of createReadStream(list, { encoding: "utf8", highWaterMark: 2 ** 20 })) {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop() ?? "";
  for (const line of lines) builder.add(line);
}
writeFileSync(filter, builder.build());
