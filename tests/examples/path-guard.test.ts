/** The path guard example, in front of an origin on loopback. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buildPathFilter } from "hedgerow";
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startWorker } from "../../scripts/lib/worker.mjs";

let origin: Server;
let worker: Miniflare;
let url: URL;
/** The URLs that the origin received. */
let requested: string[] = [];
/** Whether the origin serves a filter. */
let hasFilter = true;

beforeAll(async () => {
  const file = buildPathFilter(["/", "/about", "/blog/*"]);
  origin = createServer((request, response) => {
    requested.push(request.url ?? "");
    const isFilter = request.url?.startsWith("/_hedgerow/paths.filter") ?? false;
    if (isFilter && !hasFilter) response.writeHead(503).end();
    else response.end(isFilter ? file : `the origin's ${request.url}`);
  });
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  const { port } = origin.address() as AddressInfo;
  ({ worker, url } = await startWorker("examples/path-guard/src/index.ts", {
    ORIGIN: `http://127.0.0.1:${port}`,
  }));
});

beforeEach(() => {
  requested = [];
});

afterAll(async () => {
  await worker?.dispose();
  origin.close();
});

const get = (path: string) => fetch(new URL(path, url));

test("lets requests pass while the filter cannot be loaded", async () => {
  hasFilter = false;
  const response = await get("/nothing");
  expect([response.status, await response.text()]).toEqual([200, "the origin's /nothing"]);
  expect(requested).toEqual(["/_hedgerow/paths.filter?deployment=127.0.0.1", "/nothing"]);
});

test("refuses absent paths without a request to the origin, and loads the filter once", async () => {
  hasFilter = true;
  const paths = ["/wp-login.php", "/blog", "/About", "/about/us"];
  const answers = await Promise.all(paths.map(get));
  expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  expect(requested).toEqual(["/_hedgerow/paths.filter?deployment=127.0.0.1"]);
});

test("passes other requests unchanged", async () => {
  for (const path of ["/", "/about?a=b", "/blog/2026/hedges", "/ab%6Fut"]) {
    expect(await (await get(path)).text()).toBe(`the origin's ${path}`);
  }
  const post = await fetch(new URL("/nothing", url), { method: "POST", body: "x" });
  expect(post.status).toBe(200);
});
