/** The Hono example: one app, as a Node process and as a worker. */
import { afterAll, beforeAll, describe, test } from "vitest";
import { startWorker } from "../../scripts/lib/worker.mjs";
import { expectFound, expectRefused, expectStripped } from "../support/examples/ask.js";
import { exampleFolder, type Running, start } from "../support/examples/run.js";

function startOnNode(): Promise<Running> {
  return start(exampleFolder("hono"), ["src/node.js"]);
}

async function startInWorkerd(): Promise<Running> {
  const { worker, url } = await startWorker("examples/hono/src/app.js");
  return { url, close: () => worker.dispose() };
}

describe.each([
  ["on Node", startOnNode],
  ["in workerd", startInWorkerd],
])("%s", (_, start) => {
  let server: Running;

  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server?.close());

  test("strips forged headers from requests and internal ones from responses", async () => {
    await expectStripped(server.url);
  });

  test("serves existing paths", async () => {
    await expectFound(server.url, ["/", "/plants/hawthorn", "/plants/hazel?of=a"]);
  });

  test("refuses missing paths even where a route would answer", async () => {
    await expectRefused(server.url, ["/plants/oak", "/wp-login.php"], "404 Not Found");
  });
});
