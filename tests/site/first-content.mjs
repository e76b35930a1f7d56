// Prints when each page of the site shows its first content, in Chromium with a processor slowed down four times.
import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import sirv from "sirv";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { main, step } from "../../scripts/lib/run.mjs";
import { startChromium } from "../runtimes/chromium/run.mjs";

const SLOWDOWN = 4;

const site = inRoot("target", "site");

await main(async () => {
  const server = createServer(sirv(site, { extensions: ["html"] })).listen(0, "127.0.0.1");
  const { context, close } = await startChromium();
  try {
    const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
    const files = readdirSync(site, { recursive: true, encoding: "utf8" });
    const times = [];
    for (const file of files.filter((file) => file.endsWith(".html"))) {
      times.push({ file, time: await firstContent(context, `http://127.0.0.1:${port}/${file}`) });
    }
    times.sort((a, b) => a.time - b.time);
    const [middle, slowest] = [times[times.length >> 1], times.at(-1)];
    step(
      `first content, processor ${SLOWDOWN} times slower: ${middle?.time} ms in the median of ` +
        `${times.length} pages, ${slowest?.time} ms at most (${slowest?.file})`,
    );
  } finally {
    await close();
    server.closeAllConnections();
    server.close();
  }
});

/**
 * Returns the time from the request of a page to its first content, in milliseconds.
 *
 * @param {import("playwright-core").BrowserContext} context
 * @param {string} url
 */
async function firstContent(context, url) {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.setCacheDisabled", { cacheDisabled: true });
  await session.send("Emulation.setCPUThrottlingRate", { rate: SLOWDOWN });
  await page.goto(url, { waitUntil: "networkidle" });
  const time = await page.evaluate(
    () => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Infinity,
  );
  await page.close();
  return Math.round(time);
}
