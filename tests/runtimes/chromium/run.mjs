// Runs programs in headless Chromium, as browser bundles in a page on loopback.
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

import { capture } from "../../../scripts/lib/run.mjs";
import { bundle } from "../bundle.mjs";

/** Flags for running as root, in a container, without a network. */
const ARGS = [
  "--headless",
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * Starts Chromium. Closing it removes its profile.
 */
export async function startChromium() {
  const executablePath = capture("which", ["chromium"])?.trim();
  if (executablePath === undefined) throw new Error("chromium is missing; npm test installs it");
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-chromium-"));
  const context = await chromium.launchPersistentContext(folder, { executablePath, args: ARGS });
  return {
    context,
    version: context.browser()?.version() ?? "",
    async close() {
      await context.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/**
 * Runs a program in a page.
 *
 * @param {import("playwright-core").BrowserContext} context
 * @param {import("../bundle.mjs").Program} program
 * @param {(name: string) => string} moduleOf returns the path of a WebAssembly module
 * @returns {Promise<import("../bundle.mjs").Outcome[]>}
 */
export async function runInChromium(context, program, moduleOf) {
  const { files } = await bundle("chromium", program, { conditions: ["browser"] });
  const server = serve({
    "/": ["text/html", `<!doctype html><script type="module" src="/program.js"></script>`],
    "/program.js": ["text/javascript", files[0]?.contents ?? ""],
    ...Object.fromEntries(
      ["paths", "block"].map((name) => [
        `/${name}.wasm`,
        ["application/wasm", readFileSync(moduleOf(name))],
      ]),
    ),
  });
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  const page = await context.newPage();
  /** @type {Error[]} */
  const errors = [];
  page.on("pageerror", (error) => errors.push(error));
  try {
    await page.goto(`http://127.0.0.1:${port}/`);
    if (errors[0] !== undefined) throw errors[0];
    return await page.evaluate("outcomes");
  } finally {
    await page.close();
    server.closeAllConnections();
    server.close();
  }
}

/**
 * Serves files by their paths.
 *
 * @param {Record<string, [type: string, body: string | Uint8Array]>} files
 */
function serve(files) {
  return createServer(({ url = "" }, response) => {
    const [type, body] = files[url] ?? [];
    if (type === undefined) response.writeHead(404).end();
    else response.writeHead(200, { "content-type": type }).end(body);
  }).listen(0, "127.0.0.1");
}
