// The figures on the landing page: rows of the table in the README, which the benchmarks write.
import { readFileSync } from "node:fs";

import { inRoot } from "../scripts/lib/paths.mjs";

/** The start of the row of each job. */
const ROWS = {
  headers: "Strip a request of 20 headers, Node",
  paths: "Load 24,441 paths",
  snapshots: "Restore",
};

export default {
  watch: ["../README.md"],
  load() {
    const lines = readFileSync(inRoot("README.md"), "utf8").split("\n");
    return Object.fromEntries(
      Object.entries(ROWS).map(([job, start]) => {
        const line = lines.find((line) => line.startsWith(`| ${start}`));
        if (line === undefined) throw new Error(`README.md: no row that starts with "${start}"`);
        const [what, own, rival] = line
          .slice(1, -1)
          .split(/(?<!\\)\|/)
          .map((cell) => cell.replaceAll(/\*\*|`|\\/g, "").trim());
        return [job, { what, own, rival }];
      }),
    );
  },
};
