/** Responses of another implementation of `fetch`, which are no instances of the global classes. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buildPathFilter, PathFilter, PathFilterStore } from "hedgerow";
import { fetch as fetchByUndici } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";

let loads = 0;
const server = createServer((request, response) => {
  loads += 1;
  response.statusCode = request.url === "/none" ? 404 : 200;
  response.end(request.url === "/none" ? "none" : buildPathFilter(["/a"]));
});

beforeAll(() => new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve)));

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

/** Fetches with npm's undici, whose types differ from the global ones, too. */
async function fetchFile(name: string): Promise<Response> {
  const { port } = server.address() as AddressInfo;
  const response = await fetchByUndici(`http://127.0.0.1:${port}/${name}`);
  expect(response).not.toBeInstanceOf(Response);
  return response as unknown as Response;
}

test("PathFilter.load reads responses and streams of npm's undici", async () => {
  const response = await fetchFile("paths");
  const filter = await PathFilter.load(response);
  expect([filter.has("/a"), filter.has("/b")]).toEqual([true, false]);
  const { body } = await fetchFile("paths");
  expect((await PathFilter.load(body!)).has("/a")).toBe(true);
  await expect(PathFilter.load(await fetchFile("none"))).rejects.toMatchObject({
    code: "ERR_FILTER_RESPONSE",
  });
});

test("a store loads a response of npm's undici once, and remembers its status 404", async () => {
  const store = new PathFilterStore({ maxBytes: 1e6, load: fetchFile });
  loads = 0;
  expect(await store.canExist("paths", "/a")).toBe(true);
  expect(store.canExist("paths", "/b")).toBe(false);
  for (let round = 0; round < 2; round += 1) {
    await expect(store.canExist("none", "/a")).rejects.toMatchObject({
      code: "ERR_FILTER_RESPONSE",
    });
  }
  expect(loads).toBe(2);
});

test("a value that only resembles a response is refused", async () => {
  for (const body of [undefined, {}, new Uint8Array(1)]) {
    const source = { ok: true, status: 200, body } as never;
    await expect(PathFilter.load(source)).rejects.toMatchObject({ code: "ERR_ARGUMENT" });
    const store = new PathFilterStore({ maxBytes: 1e6, load: () => source });
    await expect(store.canExist("k", "/a")).rejects.toMatchObject({ code: "ERR_ARGUMENT" });
  }
});
