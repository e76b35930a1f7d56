/** Bundlers, a page that they bundle, and what the bundles must do. */
import { cpSync, existsSync, readFileSync, renameSync, rmSync } from "node:fs";
import { extname, join } from "node:path";
import { afterAll, expect, onTestFinished } from "vitest";
import { startChromium } from "../../runtimes/chromium/run.mjs";
import { closed, serve as listen } from "../../support/http/listen.js";
import { keptProject } from "./kept-build.js";
import { emptyFolder, packageFolder } from "./project.js";
import { expectProtected, expectStripped, type KnownResponse } from "./protected.js";
import { NODE, run, serve, tool } from "./tool.js";

/** Bundles `script` into `output`, both in `folder`. */
export type Bundler = (folder: string, script: string, output: string) => Promise<unknown>;

const esbuild =
  (...args: string[]): Bundler =>
  (folder, script, output) =>
    run(folder, tool("esbuild"), script, "--bundle", `--outfile=${output}`, ...args);

const webpack =
  (target: string): Bundler =>
  (folder, script, output) =>
    run(
      folder,
      tool("webpack"),
      ...["--entry", `./${script}`, "--mode", "production"],
      ...[...["--target", target, "--output-path", ".", "--output-filename", output]],
    );

const rollup =
  (plugin: string): Bundler =>
  (folder, script, output) =>
    run(folder, tool("rollup"), script, "--format", "es", "--plugin", plugin, "--file", output);

/** Bundlers for Node. The extension of the output gives the module format. */
export const nodeBundlers: [name: string, output: string, bundler: Bundler][] = [
  ["esbuild, a module", "server.mjs", esbuild("--platform=node", "--format=esm")],
  ["esbuild, CommonJS", "bundled.cjs", esbuild("--platform=node", "--format=cjs")],
  ["webpack", "bundled.cjs", webpack("node20")],
  ["Rollup", "server.mjs", rollup("node-resolve")],
];

/** Bundlers for browsers. */
export const browserBundlers: [name: string, bundler: Bundler][] = [
  ["esbuild", esbuild("--format=esm", "--minify")],
  ["webpack", webpack("web")],
  ["Rollup", rollup("node-resolve={browser:true}")],
];

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
};

/** The browser, which all pages share. */
let chromium: ReturnType<typeof startChromium> | undefined;

afterAll(async () => (await chromium)?.close());

/** Asserts that the page in a folder strips headers and guards paths. It reports its responses in its title. */
export async function expectPage(folder: string): Promise<void> {
  const requested: string[] = [];
  const { server, url } = await listen(({ url: path = "", headers }, response) => {
    const file = join(folder, path);
    if (path !== "/known" && existsSync(file)) {
      response.setHeader("content-type", TYPES[extname(file)] ?? "");
      response.end(readFileSync(file));
      return;
    }
    requested.push(path);
    response.setHeader("x-internal-trace", "leaked");
    response.end(JSON.stringify({ headers }));
  });
  onTestFinished(() => closed(server));
  const { known, unknown } = JSON.parse(await titleOf(new URL("index.html", url)));
  expectStripped(known as KnownResponse);
  expect(unknown).toEqual({ status: 404 });
  expect(requested).toContain("/known");
  expect(requested).not.toContain("/unknown");
}

/** Returns the title that a page sets. @throws any uncaught error of the page */
async function titleOf(url: URL): Promise<string> {
  chromium ??= startChromium();
  const { context } = await chromium;
  const page = await context.newPage();
  onTestFinished(() => page.close());
  const failed = new Promise<never>((_, reject) => page.on("pageerror", reject));
  await page.goto(url.href);
  await Promise.race([failed, page.waitForFunction("document.title !== ''")]);
  return page.title();
}

/** Asserts that the server of the suite works when a bundler has bundled it for Node. */
export async function expectBundledServer(bundler: string): Promise<void> {
  const [name, output, bundle] = nodeBundlers.find(([name]) => name === bundler)!;
  const folder = await keptProject(`server by ${name}`, "server", (folder) =>
    bundle(folder, "server.js", output),
  );
  await expectProtected(await serve(folder, NODE, [output]));
}

/** Part of `build.wasm` in Base64. */
const build = readFileSync(join(packageFolder("hedgerow"), "wasm", "build_bg.wasm"));
const BUILDER_MARK = build.subarray(6_000, 6_060).toString("base64");

/** An error code that only the reader of filters contains. */
const READER_MARK = "ERR_FILTER_FORMAT";

/** Asserts that the page of the suite works in a browser when a bundler has bundled it. */
export async function expectBundledPage(bundler: string): Promise<void> {
  const folder = emptyFolder();
  cpSync(await pageBundle("page.js", bundler), folder, { recursive: true });
  const text = readFileSync(join(folder, "bundle.js"), "utf8");
  expect(text).toContain(BUILDER_MARK);
  expect(text).toContain(READER_MARK);
  rmSync(join(folder, "page.js"));
  renameSync(join(folder, "bundle.js"), join(folder, "page.js"));
  await expectPage(folder);
}

/** Asserts that the bundle of a page that only strips headers has no code for paths. */
export async function expectUnusedCodeLeftOut(bundler: string): Promise<void> {
  const folder = await pageBundle("headers.js", bundler);
  const text = readFileSync(join(folder, "bundle.js"), "utf8");
  expect(text).toContain("x-internal-*");
  expect(text).not.toContain(BUILDER_MARK);
  expect(text).not.toContain(READER_MARK);
}

/** Bundles a script of the page into `bundle.js`, or takes the bundle of a previous run. Returns its folder. */
function pageBundle(script: string, bundler: string): Promise<string> {
  const [name, bundle] = browserBundlers.find(([name]) => name === bundler)!;
  return keptProject(`${script} by ${name}`, "page", (folder) =>
    bundle(folder, script, "bundle.js"),
  );
}
