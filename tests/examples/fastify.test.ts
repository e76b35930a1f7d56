/** The example on Fastify, built and started by its own scripts. */
import { afterAll, beforeAll, test } from "vitest";
import { expectFound, expectRefused, expectStripped } from "../support/examples/ask.js";
import { build, exampleFolder, type Running, start } from "../support/examples/run.js";

const folder = exampleFolder("fastify");
let server: Running;

beforeAll(async () => {
  await build(folder);
  server = await start(folder, ["src/server.js"]);
}, 60_000);
afterAll(() => server?.close());

test("forged headers do not reach a route, nor internal ones a client", async () => {
  await expectStripped(server.url);
});

test("records are found", async () => {
  await expectFound(server.url, ["/plants/hawthorn", "/plants/hazel", "/headers"]);
});

test("a record that is not there is refused before its file is opened, which would fail", async () => {
  await expectRefused(server.url, ["/plants/oak", "/plants", "/wp-login.php"]);
});
