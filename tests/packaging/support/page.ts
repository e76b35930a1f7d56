/** Pages in Chromium: what a bundler made, served on loopback by a server that says what it was asked. */
import { existsSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";
import { expect, onTestFinished } from "vitest";

import { startChromium } from "../../runtimes/chromium/run.mjs";
import { closed, serve } from "../../support/http/listen.js";
import { expectKept, type Known } from "./job.js";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html",
  ".js": "text/javascript",
};

/** Asserts that the page in a folder does the job; it says so in its title. */
export async function expectPage(folder: string): Promise<void> {
  const asked: string[] = [];
  const { server, url } = await serve(({ url: path = "", headers }, response) => {
    const file = join(folder, path);
    if (path !== "/known" && existsSync(file)) {
      response.setHeader("content-type", TYPES[extname(file)] ?? "");
      response.end(readFileSync(file));
      return;
    }
    asked.push(path);
    response.setHeader("x-internal-trace", "leaked");
    response.end(JSON.stringify({ headers }));
  });
  onTestFinished(() => closed(server));
  const { known, unknown } = JSON.parse(await titleOf(new URL("index.html", url)));
  expectKept(known as Known);
  expect(unknown).toEqual({ status: 404 });
  expect(asked).toContain("/known");
  expect(asked).not.toContain("/unknown");
}

/** The title that a page gives itself. @throws what is thrown in it */
async function titleOf(url: URL): Promise<string> {
  const { context, close } = await startChromium();
  onTestFinished(close);
  const page = await context.newPage();
  const failed = new Promise<never>((_, reject) => page.on("pageerror", reject));
  await page.goto(url.href);
  await Promise.race([failed, page.waitForFunction("document.title !== ''")]);
  return page.title();
}
