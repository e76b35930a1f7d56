// Serves a site of all installed files behind a worker that answers 404 for paths that cannot exist.
import { buildPathFilter, normalizePath, PathFilter, PathSet } from "hedgerow";

import { measure, medians } from "../../bench/harness/measure.mjs";
import { installedPaths } from "../lib/installed-files.mjs";
import { microseconds, printTable } from "../lib/measured.mjs";
import { StepError, step } from "../lib/run.mjs";
import { startWorker } from "../lib/worker.mjs";
import { sendAll, startOrigin } from "./edge.mjs";

/** Number of requests for existing paths, and as many for missing ones. */
const REQUESTS = 2_000;
const FILTER = "/_hedgerow/paths.filter";

export async function demonstratePaths() {
  step("paths: building a filter of the files of all installed packages");
  const urls = installedPaths().map((path) => path.split("/").map(encodeURIComponent).join("/"));
  const known = urls.map(normalizePath);
  const start = performance.now();
  const file = buildPathFilter(known, { version: "demo" });
  const seconds = (performance.now() - start) / 1000;

  const stored = new Set(known);
  let falsePositives = 0;
  const storage = await startOrigin((request, response) => {
    const path = normalizePath(request.url ?? "");
    if (path === FILTER || stored.has(path)) {
      response.end(path === FILTER ? file : "a file\n");
    } else {
      falsePositives += 1;
      response.writeHead(404).end();
    }
  });
  const { worker, url } = await startWorker("examples/path-guard/src/index.ts", {
    ORIGIN: storage.url,
  });
  try {
    step(
      `paths: sending ${2 * REQUESTS} requests through a worker, half of them for missing paths`,
    );
    const some = evenly(urls, REQUESTS);
    const all = [...some, ...some.map((path) => `${path}~`)].map((path) => ({ path }));
    const statuses = (await sendAll(url, all)).map(({ status }) => status);
    const missing = statuses.slice(0, REQUESTS).filter((status) => status !== 200).length;
    const found = statuses.slice(REQUESTS).filter((status) => status !== 404).length;
    step("paths: timing load and query, against JSON and a Set");
    const json = JSON.stringify(known);
    printTable([
      ["paths of the site", known.length],
      ["paths added per second", Math.round(known.length / seconds)],
      ["filter size, bytes", file.length],
      ["  the same paths as JSON", Buffer.byteLength(json)],
      ["requests for existing paths", REQUESTS],
      ["  answered 404 by mistake", missing],
      ["requests for missing paths", REQUESTS],
      ["  storage look-ups avoided", REQUESTS - falsePositives],
      ["  false positives, sent to storage", falsePositives],
      ["  not answered 404", found],
      ...(await times(known, file, json)),
    ]);
    if (missing + found > 0)
      throw new StepError("expected 200 for what exists, and 404 for the rest");
  } finally {
    await worker.dispose();
    storage.close();
  }
}

/** Picks `count` items of a list, evenly spread. @param {string[]} list @param {number} count */
const evenly = (list, count) =>
  Array.from(
    { length: count },
    (_, index) => list[Math.floor((index * list.length) / count)] ?? "",
  );

/**
 * @param {string[]} known
 * @param {Uint8Array} file
 * @param {string} json
 * @returns {Promise<[string, string][]>}
 */
async function times(known, file, json) {
  const [first = ""] = known;
  const parseAndQuery = () => {
    const filter = PathFilter.parse(file);
    const isPresent = filter.has(first);
    filter.free();
    return isPresent;
  };
  const loads = [
    { name: "filter", make: () => file, run: parseAndQuery },
    { name: "json", make: () => json, run: () => PathSet.parse(json).has(first) },
  ];
  const [loading = 0, parsing = 0] = medians(await measure(loads, Array.from({ length: 8 }), 12));
  return [
    ["load the filter and query it once", microseconds(loading)],
    ["  parse the JSON into a Set and query it", microseconds(parsing)],
    ["  speed-up", `${Math.round(parsing / loading)} ×`],
  ];
}
