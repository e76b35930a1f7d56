/** A site of both routers in Chromium: its client behaves alike with the preset `next` in its proxy and without. */
import type { BrowserContext } from "playwright-core";
import { afterAll, expect, test } from "vitest";

import { startChromium } from "../runtimes/chromium/run.mjs";
import { startApp } from "./support/next.js";
import { TEST_TIMEOUT } from "./support/project.js";

let chromium: ReturnType<typeof startChromium> | undefined;

afterAll(async () => (await chromium)?.close());

/** Uses the site as a person does. Returns what the person and the server see. */
async function visit(context: BrowserContext, url: URL): Promise<Record<string, unknown>> {
  const page = await context.newPage();
  const text = (selector: string) => page.locator(selector).textContent();
  const renders = async () => (await fetch(new URL("/api/renders", url))).json();
  const seen: Record<string, unknown> = {};

  await page.goto(new URL("/account", url).href, { waitUntil: "networkidle" });
  const isPrefetch = (of: { headers(): Record<string, string> }) =>
    of.headers()["x-middleware-prefetch"] === "1";
  const prefetched = page.waitForResponse((response) => isPrefetch(response.request()));
  await page.hover("text=Log out");
  const response = await prefetched;
  const { "x-middleware-skip": skips } = response.headers();
  seen.prefetch = [response.status(), skips, await response.text(), await renders()];
  await page.evaluate("mark = true");
  await page.click("text=Log out");
  seen.navigation = [await text("#log-out"), await renders(), await page.evaluate("mark")];

  await page.goto(url.href);
  await page.evaluate("mark = true");
  await page.click("text=One");
  seen.payload = [await text("#one"), await page.evaluate("mark")];

  await page.goto(url.href);
  seen.counts = [await text("#count")];
  for (const count of ["1", "2"]) {
    await page.click("text=Count");
    await page.locator("#count", { hasText: count }).waitFor();
    (seen.counts as unknown[]).push(await text("#count"));
  }

  const drafts: unknown[] = [];
  for (const path of ["/draft", "/draft?off"]) {
    await page.goto(new URL(path, url).href);
    await page.goto(url.href);
    drafts.push(await text("#draft"));
  }
  seen.drafts = drafts;
  await page.close();
  await context.clearCookies();
  return seen;
}

/** Returns the internal fields that a route handler receives of those that a client forges. */
async function received(url: URL): Promise<string[]> {
  const headers = { "x-middleware-subrequest": "proxy:proxy", "x-nextjs-data": "1", "x-kept": "1" };
  const names: string[] = await (await fetch(new URL("/headers", url), { headers })).json();
  return names.filter((name) => name in headers);
}

test("Next.js prefetches, navigates, runs actions and drafts pages alike with the preset next and without", {
  timeout: 2 * TEST_TIMEOUT,
}, async () => {
  chromium ??= startChromium();
  const { context } = await chromium;
  const bare = await startApp("next-client");
  const stripping = await startApp("next-client", { env: { ADAPTER: "yes" } });
  const seen = await visit(context, stripping);
  expect(seen).toEqual({
    prefetch: [200, "1", "{}", 0],
    navigation: ["Logged out", 1, true],
    payload: ["The first item", true],
    counts: ["0", "1", "2"],
    drafts: ["draft", "published"],
  });
  expect(await visit(context, bare)).toEqual(seen);
  expect(await received(stripping)).toEqual(["x-kept"]);
  expect(await received(bare)).toContain("x-middleware-subrequest");
});
