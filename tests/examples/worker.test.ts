/** The worker example, in front of an origin on loopback. */
import { createServer, type IncomingMessage, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startWorker } from "../../scripts/lib/worker.mjs";

let origin: Server;
let worker: Miniflare;
let url: URL;
let arrived: IncomingMessage | undefined;

beforeAll(async () => {
  origin = createServer((message, response) => {
    arrived = message;
    response.writeHead(200, { "x-internal-user": "7", "set-cookie": ["a=1", "b=2"] });
    response.end(message.url);
  });
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  const { port } = origin.address() as AddressInfo;
  ({ worker, url } = await startWorker("examples/worker/src/index.ts", {
    ORIGIN: `http://127.0.0.1:${port}`,
    INTERNAL_HEADERS: ["x-internal-*", "x-debug"],
    PATHS: ["/", "/a", "/blog/*", "/elsewhere.invalid/*"],
  }));
});

afterAll(async () => {
  await worker?.dispose();
  origin.close();
});

/** Sends the path unchanged. `fetch` would normalize it. */
function get(path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = url;
    request({ hostname, port, path, headers }, (response) => resolve(response.resume()))
      .on("error", reject)
      .end();
  });
}

test("strips internal headers both ways, and keeps repeated fields separate", async () => {
  const response = await get("/", { "X-Debug": "1", "X-Internal-User": "7", "X-Kept": "8" });
  expect(arrived?.headers).toMatchObject({ "x-kept": "8" });
  expect(Object.keys(arrived?.headers ?? {})).not.toContain("x-debug");
  expect(Object.keys(arrived?.headers ?? {})).not.toContain("x-internal-user");
  expect(Object.keys(response.headers)).not.toContain("x-internal-user");
  expect(response.headers["set-cookie"]).toEqual(["a=1", "b=2"]);
});

test("sends every path to the origin, even one that looks like another host", async () => {
  for (const path of ["//elsewhere.invalid/a?b", "/\\elsewhere.invalid/a?b", "/a?b=//c/"]) {
    const response = await get(path);
    expect(response.statusCode).toBe(200);
    expect(arrived?.headers.host).toBe(`127.0.0.1:${(origin.address() as AddressInfo).port}`);
  }
});

test("refuses absent paths without a request to the origin", async () => {
  arrived = undefined;
  for (const path of ["/blog", "/wp-login.php", "/blog/../.env"]) {
    expect((await get(path)).statusCode).toBe(404);
  }
  expect(arrived).toBeUndefined();
  expect((await get("/blog/hedges?a=b")).statusCode).toBe(200);
  expect(arrived).toMatchObject({ url: "/blog/hedges?a=b" });
});
