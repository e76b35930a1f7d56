/** The built site on loopback, and a browser that records everything that is wrong on a page. */
import { readdirSync } from "node:fs";
import type { Server } from "node:http";
import type { BrowserContext, Page } from "playwright-core";
import sirv from "sirv";
import { afterAll, beforeAll, expect } from "vitest";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { startChromium } from "../runtimes/chromium/run.mjs";
import { closed, serve } from "../support/http/listen.js";

/** The folder of the built site. */
export const SITE = inRoot("target", "site");

/** The files of all pages, relative to the folder. */
export const PAGES: readonly string[] = readdirSync(SITE, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".html"))
  .sort();

/** Serves the site and starts a browser for the tests of a file. */
export function useSite() {
  let servers: Server[] = [];
  let browser: { context: BrowserContext; close(): Promise<void> };
  let origin: URL;
  let other: URL;
  beforeAll(async () => {
    const files = sirv(SITE, { extensions: ["html"] });
    const shared = sirv(SITE, {
      setHeaders: (response) => response.setHeader("access-control-allow-origin", "*"),
    });
    const [own, foreign] = [await serve(files), await serve(shared)];
    servers = [own.server, foreign.server];
    [origin, other] = [own.url, foreign.url];
    browser = await startChromium();
  });
  afterAll(async () => {
    await browser.close();
    for (const server of servers) await closed(server);
  });
  return {
    /** Returns the URL of a file of the site on another origin, which allows that by CORS. */
    elsewhere: (path: string) => new URL(path, other).href,
    /** Opens a page, calls `use`, and fails if anything was wrong. */
    async visit<T>(
      path: string,
      use: (page: Page) => Promise<T>,
      allowed: readonly string[] = [],
    ): Promise<T> {
      const page = await browser.context.newPage();
      const problems: string[] = [];
      page.on("console", (message) => {
        if (/error|warning/.test(message.type())) problems.push(message.text());
      });
      page.on("pageerror", ({ message }) => problems.push(message));
      page.on("request", (request) => {
        const url = new URL(request.url());
        if (/^https?:$/.test(url.protocol) && url.origin !== origin.origin) problems.push(url.href);
      });
      try {
        await page.goto(new URL(path, origin).href, { waitUntil: "networkidle" });
        const result = await use(page);
        expect(
          problems.filter((problem) => !allowed.some((text) => problem.includes(text))),
        ).toEqual([]);
        return result;
      } finally {
        await page.close();
      }
    },
  };
}
