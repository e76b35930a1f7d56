/** The example on Hono: one app, as a process of Node and as a worker. */
import { afterAll, beforeAll, describe, test } from "vitest";
import { startWorker } from "../../scripts/lib/worker.mjs";
import { expectFound, expectRefused, expectStripped } from "../support/examples/ask.js";
import { exampleFolder, type Running, start } from "../support/examples/run.js";

async function startInWorkerd(): Promise<Running> {
  const { worker, url } = await startWorker("examples/hono/src/app.js");
  return { url, close: () => worker.dispose() };
}

describe.each([
  ["on Node", () => start(exampleFolder("hono"), ["src/node.js"])],
  ["in workerd", startInWorkerd],
])("%s", (_, starts) => {
  let server: Running;

  beforeAll(async () => {
    server = await starts();
  }, 60_000);
  afterAll(() => server?.close());

  test("forged headers do not reach a route, nor internal ones a client", async () => {
    await expectStripped(server.url);
  });

  test("what there is is found", async () => {
    await expectFound(server.url, ["/", "/plants/hawthorn", "/plants/hazel?of=a"]);
  });

  test("what is not there is refused, though a route would answer it", async () => {
    await expectRefused(server.url, ["/plants/oak", "/wp-login.php"], "404 Not Found");
  });
});
