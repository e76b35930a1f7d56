import { createReadStream } from "node:fs";

import { readTrace, type Workload } from "@hedgerow/fleet/simulation";

import { expecting } from "../files/expecting.js";
import { linesOf } from "../files/lines.js";

/** Reads the trace in a file, or from standard input for `-`. */
export function traceIn(file: string, hosts: number): Promise<Workload> {
  const isStdin = file === "-";
  const name = isStdin ? "standard input" : file;
  const chunks = isStdin ? process.stdin : createReadStream(file, { highWaterMark: 1 << 20 });
  return expecting(name, "a trace of a fleet", () =>
    readTrace(linesOf(chunks, name), { name, hosts }),
  );
}
