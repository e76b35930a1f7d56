// Serves a site of all installed files behind a worker that answers 404 for paths that cannot exist.
import http from "node:http";

import { buildPathFilter, normalizePath, PathFilter, PathSet } from "hedgerow";

import { measure, medians } from "../../bench/harness/measure.mjs";
import { installedPaths, unknownPaths } from "../lib/installed-paths.mjs";
import { StepError, step } from "../lib/run.mjs";
import { microseconds, printTable } from "../lib/table.mjs";
import { startWorker } from "../lib/worker.mjs";

const HOST = "127.0.0.1";
const CONCURRENCY = 16;
const REQUESTS = 4_000;
const FILTER = "/_hedgerow/paths.filter";

/** Returns the URL path of a file name. @param {string} name */
const urlPath = (name) => name.split("/").map(encodeURIComponent).join("/");

export async function demonstratePaths() {
  step("paths: building a filter of the files of all installed packages");
  const urls = installedPaths().map(urlPath);
  const known = urls.map(normalizePath);
  const start = performance.now();
  const file = buildPathFilter(known, { version: "demo" });
  const seconds = (performance.now() - start) / 1000;
  const storage = await startStorage(new Set(known), file);
  const { worker, url } = await startWorker("examples/path-guard/src/index.ts", {
    ORIGIN: `http://${HOST}:${storage.port}`,
  });
  try {
    step(`paths: sending ${REQUESTS} requests through a worker, half of them for missing paths`);
    const asked = some(urls, REQUESTS / 2).flatMap((path) => [path, `${path}~`]);
    const statuses = await askAll(url, asked);
    const isKnown = (/** @type {number} */ index) => index % 2 === 0;
    const missing = statuses.filter((status, index) => isKnown(index) && status !== 200).length;
    const found = statuses.filter((status, index) => !isKnown(index) && status !== 404).length;
    step("paths: timing load and query alone, against JSON and a Set");
    const json = JSON.stringify(known);
    printTable([
      ["paths of the site", known.length],
      ["paths added per second", Math.round(known.length / seconds)],
      ["filter size, bytes", file.length],
      ["  the same paths as JSON", Buffer.byteLength(json)],
      ["requests for existing paths", REQUESTS / 2],
      ["  answered 404 by mistake", missing],
      ["requests for missing paths", REQUESTS / 2],
      ["  storage look-ups avoided", REQUESTS / 2 - storage.misses()],
      ["  false positives, sent to storage", storage.misses()],
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

/**
 * Starts the storage of the site, which also serves the filter.
 *
 * @param {Set<string>} paths
 * @param {Uint8Array} file
 */
async function startStorage(paths, file) {
  let misses = 0;
  const server = http.createServer((request, response) => {
    const path = normalizePath(request.url ?? "");
    if (path === FILTER) {
      response.end(file);
    } else if (paths.has(path)) {
      response.end("a file\n");
    } else {
      misses += 1;
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, HOST, () => resolve(undefined)));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return { port, misses: () => misses, close: () => server.close() };
}

/** Picks `count` items of a list, evenly spread. @param {string[]} list @param {number} count */
function some(list, count) {
  return Array.from(
    { length: count },
    (_, index) => list[Math.floor((index * list.length) / count)] ?? "",
  );
}

/**
 * Requests all paths with bounded concurrency and returns the status codes.
 *
 * @param {URL} url
 * @param {string[]} paths
 */
async function askAll(url, paths) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  const statuses = await Promise.all(paths.map((path) => ask(url, agent, path)));
  agent.destroy();
  return statuses;
}

/**
 * @param {URL} url
 * @param {http.Agent} agent
 * @param {string} path
 * @returns {Promise<number>}
 */
function ask(url, agent, path) {
  return new Promise((resolve, reject) => {
    const request = http.get(url, { agent, path }, (response) => {
      response.on("end", () => resolve(response.statusCode ?? 0)).resume();
    });
    request.on("error", reject);
  });
}

/**
 * @param {string[]} known
 * @param {Uint8Array} file
 * @param {string} json
 * @returns {Promise<[string, string][]>}
 */
async function times(known, file, json) {
  const first = known[0] ?? "";
  const load = {
    name: "filter",
    make: () => file,
    run: () => {
      const filter = PathFilter.parse(file);
      const isPresent = filter.has(first);
      filter.free();
      return isPresent;
    },
  };
  const parse = { name: "json", make: () => json, run: () => PathSet.parse(json).has(first) };
  const timings = await measure([load, parse], Array.from({ length: 8 }), 12);
  const [loading = 0, parsing = 0] = medians(timings);
  const queries = some(known, 2048).flatMap((path) => [path, ...unknownPaths([path])]);
  const filter = PathFilter.parse(file);
  const set = new Set(known);
  const asks = [
    {
      name: "filter",
      make: (/** @type {string} */ path) => path,
      run: (/** @type {string} */ path) => filter.has(path),
    },
    {
      name: "set",
      make: (/** @type {string} */ path) => path,
      run: (/** @type {string} */ path) => set.has(path),
    },
  ];
  const [asking, looking] = medians(await measure(asks, queries, 40));
  filter.free();
  return [
    ["load the filter and query it once", microseconds(loading)],
    ["  parse the JSON into a Set and query it", microseconds(parsing)],
    ["  speed-up", `${Math.round(parsing / loading)} ×`],
    ["query the filter", `${asking} ns`],
    ["  query the Set", `${looking} ns`],
  ];
}
