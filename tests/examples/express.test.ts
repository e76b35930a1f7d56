/** The example on Express, built and started by its own scripts. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectFound, expectRefused, expectStripped } from "../support/examples/ask.js";
import { build, exampleFolder, type Running, start } from "../support/examples/run.js";

const folder = exampleFolder("express");
let server: Running;

beforeAll(async () => {
  await build(folder);
  server = await start(folder, ["src/server.js"]);
}, 60_000);
afterAll(() => server?.close());

test("forged headers do not reach a route, nor internal ones a client", async () => {
  await expectStripped(server.url);
  const page = await fetch(new URL("/", server.url));
  expect(page.headers.get("x-powered-by")).toBeNull();
});

test("files and routes are found", async () => {
  await expectFound(server.url, [
    "/",
    "/index.html",
    "/about",
    "/style.css",
    "/account/7",
    "/headers",
  ]);
});

test("what is neither is refused by the filter, before Express looks for a file", async () => {
  const paths = ["/wp-login.php", "/about/us", "/account", "/Style.css"];
  await expectRefused(server.url, paths, "Not Found\n");
});
