/** The Next.js example, with the packed packages, built and started by its own scripts. */
import { lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inRoot } from "../../scripts/lib/paths.mjs";
import { keptBuild } from "../packaging/support/kept-build.js";
import { TEST_TIMEOUT } from "../packaging/support/project.js";
import { expectFound, expectRefused, expectStripped } from "../support/examples/ask.js";
import { build, exampleFolder, type Running, start } from "../support/examples/run.js";

/** The suite that installs the packed packages and Next.js, which is too large for the root package. */
const suite = inRoot("tests/packaging");
const installed = (name: string) => join(suite, "node_modules", name);

const OFFLINE = { NEXT_TELEMETRY_DISABLED: "1", CI: "1" };

/** The content of a public file that the tests add to the site. */
const ROBOTS = "User-agent: *\n";

let folder: string;
let server: Running;

beforeAll(async () => {
  if (!lstatSync(installed("hedgerow"), { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`${suite} has no packed packages; scripts/test.mjs installs them`);
  }
  const also = { ...OFFLINE, ROBOTS };
  folder = await keptBuild("next-example", exampleFolder("next"), also, (folder) => {
    mkdirSync(join(folder, "public"));
    writeFileSync(join(folder, "public", "robots.txt"), ROBOTS);
    return build(folder, OFFLINE);
  });
  const next = join(installed("next"), "dist/bin/next");
  server = await start(folder, [next, "start", "-H", "127.0.0.1", "-p", "0"], OFFLINE);
  // Next.js builds the site.
}, TEST_TIMEOUT);
afterAll(() => server?.close());

test("depends on the versions that it is tested with", () => {
  const { dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  for (const [name, version] of Object.entries(dependencies)) {
    const found = JSON.parse(readFileSync(join(installed(name), "package.json"), "utf8"));
    expect([name, found.version]).toEqual([name, version]);
  }
});

test("strips forged headers from requests", async () => {
  await expectStripped(server.url);
});

test("serves pages, their scripts and styles, and files", async () => {
  const home = await (await fetch(server.url)).text();
  const loaded = new Set(home.match(/\/_next\/static\/[\w./-]+/g));
  expect(loaded.size).toBeGreaterThan(0);
  await expectFound(server.url, [
    "/",
    "/plants/hazel",
    "/plants/hawthorn",
    "/robots.txt",
    ...loaded,
  ]);
});

test("serves the payloads that client navigation requests", async () => {
  const url = new URL("/plants/hazel?_rsc", server.url);
  const response = await fetch(url, { headers: { rsc: "1" } });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/x-component");
  expect(await response.text()).toContain("dormice");
});

test("refuses missing paths before Next.js renders a page", async () => {
  const paths = ["/plants/oak", "/plants", "/wp-login.php", "/_next/static/none.js"];
  await expectRefused(server.url, paths, "Not Found\n");
});
