/** The Express example, built and started by its own scripts. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectFound, expectRefused, expectStripped } from "../support/examples/ask.js";
import { build, exampleFolder, type Running, start } from "../support/examples/run.js";

const folder = exampleFolder("express");
let server: Running;

beforeAll(async () => {
  await build(folder);
  server = await start(folder, ["src/server.js"]);
});
afterAll(() => server?.close());

test("strips forged headers from requests and internal ones from responses", async () => {
  await expectStripped(server.url);
  const page = await fetch(new URL("/", server.url));
  expect(page.headers.get("x-powered-by")).toBeNull();
});

test("serves files and routes", async () => {
  await expectFound(server.url, [
    "/",
    "/index.html",
    "/about",
    "/style.css",
    "/account/7",
    "/headers",
  ]);
});

test("refuses other paths before Express looks for a file", async () => {
  const paths = ["/wp-login.php", "/about/us", "/account", "/Style.css"];
  await expectRefused(server.url, paths, "Not Found\n");
});
