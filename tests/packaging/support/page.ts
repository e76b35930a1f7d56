/** Bundled pages in Chromium, served on loopback. */
import { existsSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { afterAll, expect, onTestFinished } from "vitest";

import { startChromium } from "../../runtimes/chromium/run.mjs";
import { closed, serve } from "../../support/http/listen.js";
import { expectStripped, type KnownResponse } from "./protected.js";

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
  const { server, url } = await serve(({ url: path = "", headers }, response) => {
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
