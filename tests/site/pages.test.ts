/** Every page in both themes, wide and narrow: seen, accessible, quiet, and by itself. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { minutes } from "../support/trials.js";
import { PAGES, SITE, useSite } from "./support.js";

/** The most JavaScript that a page outside the playground loads, in bytes after gzip. */
const MAX_SCRIPTS = 150_000;

/** Screenshots, for people to look at. */
const SCREENS = inRoot("target", "site-screens");

const AXE = readFileSync(inRoot("node_modules", "axe-core", "axe.min.js"), "utf8");

const { visit } = useSite();

/** Returns the bytes of the scripts that a page has loaded, after gzip. */
async function scriptBytes(page: Page): Promise<number> {
  const urls = await page.evaluate(() =>
    performance.getEntriesByType("resource").map(({ name }) => new URL(name).pathname),
  );
  const scripts = urls.filter((path) => path.endsWith(".js"));
  return scripts.reduce((sum, path) => sum + gzipSync(readFileSync(join(SITE, path))).length, 0);
}

test("has pages of every part", () => {
  for (const part of ["api", "crates", "docs", "examples", "guides", "packages", "playground"]) {
    expect(
      PAGES.some((page) => page.startsWith(`${part}/`)),
      part,
    ).toBe(true);
  }
});

test("finds pages by their words, by keyboard", async () => {
  await visit("index.html", async (page) => {
    const search = page.locator("#localsearch-input");
    // Keys are lost until the scripts of the page run.
    await expect
      .poll(() => page.keyboard.press("Control+k").then(() => search.isVisible()))
      .toBe(true);
    await page.keyboard.type("hop-by-hop");
    await page.locator("#localsearch-list li").first().waitFor();
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/(guides|packages|crates|docs|api)\//);
    await expect.poll(() => page.locator("main").textContent()).toContain("hop-by-hop");
  });
});

for (const colorScheme of ["light", "dark"] as const) {
  // axe takes two minutes for the longest page of the API at each width, on a slow machine.
  const limit = minutes({ few: 10, all: 10 });
  test.concurrent.each(PAGES)(`%s is sound with the ${colorScheme} theme`, limit, async (file) => {
    await visit(file, async (page) => {
      const bytes = await scriptBytes(page);
      expect(bytes).toBeGreaterThan(10_000);
      if (!file.startsWith("playground/")) expect(bytes).toBeLessThanOrEqual(MAX_SCRIPTS);
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      for (const width of [1280, 400]) {
        await page.setViewportSize({ width, height: 900 });
        const name = `${file.replaceAll("/", "-").replace(/\.html$/, "")}-${colorScheme}-${width}.png`;
        mkdirSync(SCREENS, { recursive: true });
        // The limit of the test applies: the longest page takes half a minute.
        await page.screenshot({ path: join(SCREENS, name), fullPage: true, timeout: 0 });
        // Evaluated by the debugger's protocol, which the page's policy does not limit.
        await page.evaluate(AXE);
        const violations = await page.evaluate(async () => {
          // biome-ignore lint/suspicious/noExplicitAny: the page's own global
          const { violations } = await (globalThis as any).axe.run();
          return violations.map(
            ({
              id,
              nodes,
            }: {
              id: string;
              nodes: { target: string[]; failureSummary: string }[];
            }) =>
              `${id}: ${nodes
                .map(({ target, failureSummary }) => `${target} ${failureSummary}`)
                .slice(0, 3)
                .join("; ")}`,
          );
        });
        expect(violations, `${width} pixels`).toEqual([]);
        const overflow = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        expect(overflow, `overflow at ${width} pixels`).toBe(0);
      }
    });
  });
}

test.each(PAGES)("the policy of %s allows WebAssembly and nothing else unusual", (file) => {
  const html = readFileSync(join(SITE, file), "utf8");
  const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? "";
  const unusual = policy.match(/\*|https?:|'unsafe-[a-z]+'/g);
  expect(unusual).toBeNull();
  expect(policy).toContain("default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'sha256-");
  expect(html).not.toMatch(/<[^>]* (style|on[a-z]+)="/);
});
