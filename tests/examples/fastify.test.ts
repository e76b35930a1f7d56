/** The Fastify example, built and started by its own scripts. */
import { afterAll, beforeAll, test } from "vitest";
import { expectFound, expectRefused, expectStripped } from "../support/examples/ask.js";
import { build, exampleFolder, type Running, start } from "../support/examples/run.js";

const folder = exampleFolder("fastify");
let server: Running;

beforeAll(async () => {
  await build(folder);
  server = await start(folder, ["src/server.js"]);
});
afterAll(() => server?.close());

test("strips forged headers from requests and internal ones from responses", async () => {
  await expectStripped(server.url);
});

test("serves records", async () => {
  await expectFound(server.url, ["/plants/hawthorn", "/plants/hazel", "/headers"]);
});

test("refuses missing records before it opens their files", async () => {
  await expectRefused(server.url, ["/plants/oak", "/plants", "/wp-login.php"]);
});
