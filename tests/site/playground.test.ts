/** The three tools of the playground, with sound and hostile inputs, by mouse and by keyboard alone. */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { HeaderStripper, PathFilter } from "hedgerow";
import type { Locator, Page } from "playwright-core";
import { expect, test } from "vitest";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { SITE, useSite } from "./support.js";

const { visit, elsewhere } = useSite();

const HEADERS = "playground/headers";
const PATHS = "playground/paths";
const SNAPSHOTS = "playground/snapshots";

/** Returns the text of an element, without line ends. */
const textOf = async (locator: Locator) =>
  ((await locator.textContent()) ?? "").replaceAll(/\s+/g, " ").trim();

const example = (page: Page, name: string) =>
  page.getByRole("button", { name, exact: true }).click();
const errorOf = (page: Page) => textOf(page.getByRole("alert"));

/** Returns the cells of the rows of the first table. */
const rowsOf = (page: Page) =>
  page
    .locator(".tool table")
    .first()
    .locator("tbody tr")
    .evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));

test("shows by which rule each field of curl's output is decided", async () => {
  await visit(HEADERS, async (page) => {
    const rows = await rowsOf(page);
    const stripped = rows.filter(([, , result]) => result === "stripped");
    expect(stripped.map(([name, , , rule, step]) => [name, rule, step])).toEqual([
      ["X-Internal-User", "x-internal-*", "prefix"],
      ["X-Debug-Token", "x-debug-token", "exact rule"],
    ]);
    expect(await page.locator("caption").allInnerTexts()).toEqual([
      "Request: 2 of 5 fields stripped",
      "Response: 1 of 3 fields stripped",
    ]);
  });
});

test("agrees with the library on a preset, a nomination and an allow-list", async () => {
  await visit(HEADERS, async (page) => {
    await example(page, "Next.js");
    expect(
      (await rowsOf(page)).filter(([, , result]) => result === "stripped").map(([name]) => name),
    ).toEqual(["X-Middleware-Subrequest", "X-Nextjs-Data"]);
    await example(page, "Connection");
    expect(await rowsOf(page)).toContainEqual([
      "X-Trace",
      "7",
      "stripped",
      "",
      "nominated by Connection",
    ]);
    await example(page, "Allow-list");
    const kept = (await rowsOf(page)).filter(([, , result]) => result === "kept");
    const allowed = new HeaderStripper(["content-type", "cookie", "x-app-*"], { mode: "keep" });
    expect(kept.map(([name]) => name)).toEqual([
      "Host",
      "Content-Type",
      "Content-Length",
      "Cookie",
      "X-App-Version",
    ]);
    for (const [name = ""] of kept) expect(allowed.strips(name ?? "")).toBe(false);
  });
});

test("rejects a bare CR, a nominated Content-Length and an invalid rule with the library's errors", async () => {
  await visit(HEADERS, async (page) => {
    await example(page, "Bare CR");
    expect(await errorOf(page)).toMatch(/^ERR_FIELD_BLOCK .*CR/);
    await example(page, "Content-Length nominated");
    expect(await errorOf(page)).toMatch(
      /^ERR_FIELD_BLOCK .*expected a field that may be nominated/,
    );
    await page.getByLabel("Rules").fill("x internal");
    await expect.poll(() => errorOf(page)).toMatch(/^ERR_HEADER_RULE /);
  });
});

test("times stripping beside a Set and a RegExp", async () => {
  await visit(HEADERS, async (page) => {
    await page.getByRole("button", { name: "Strip 100,000 times" }).click();
    await page.locator("table.bars tbody tr").nth(2).waitFor();
    const names = await page.locator("table.bars th").allInnerTexts();
    expect(names.sort()).toEqual(["Hedgerow", "RegExp", "Set and startsWith"]);
    for (const time of await page.locator("table.bars td:nth-child(3)").allInnerTexts()) {
      expect(Number.parseInt(time, 10)).toBeGreaterThan(0);
    }
  });
});

test("keeps the state of a tool in the fragment, whatever it says", async () => {
  const rules = encodeURIComponent("x-a");
  await visit(
    `${HEADERS}#rules=${rules}&message=${encodeURIComponent("X-A: 1\nB: 2")}`,
    async (page) => {
      expect(await rowsOf(page)).toEqual([
        ["X-A", "1", "stripped", "x-a", "exact rule"],
        ["B", "2", "kept", "", expect.any(String)],
      ]);
      await page.getByLabel("Rules").fill("b");
      await expect.poll(() => page.evaluate(() => location.hash)).toContain("rules=b");
    },
  );
  const hostile = "<img src=x onerror=alert(1)>: 1";
  await visit(
    `${HEADERS}#presets=none&mode=x&message=${encodeURIComponent(hostile)}`,
    async (page) => {
      expect(await errorOf(page)).toMatch(/^ERR_FIELD_BLOCK/);
      expect(await page.locator(".tool img").count()).toBe(0);
    },
  );
});

/** Returns the number of colours of the canvas. */
const coloursOf = (page: Page) =>
  page.locator("canvas").evaluate((canvas: HTMLCanvasElement) => {
    const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
    return new Set(new Uint32Array(data.buffer)).size;
  });

/** Returns what the page says of the query. */
const verdictOf = (page: Page) => textOf(page.locator("p[role=status] strong"));

test("builds a filter, asks it for paths, and downloads it", async () => {
  await visit(PATHS, async (page) => {
    expect(await verdictOf(page)).toBe("cannot exist");
    await page.getByLabel("Look up a path").fill("/products/7919");
    await expect.poll(() => verdictOf(page)).toBe("may exist");
    await page.getByLabel("Look up a path").fill("/api/orders/7");
    await expect.poll(() => verdictOf(page)).toBe("may exist");
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    const filter = PathFilter.parse(readFileSync(await (await download).path()));
    expect([filter.has("/cart"), filter.has("/cars"), filter.wildcards]).toEqual([true, false, 2]);
    expect(await coloursOf(page)).toBeGreaterThan(1);
  });
});

test("reads bits that are 1 for a path in the filter, and stops at a 0 for another", async () => {
  await visit(PATHS, async (page) => {
    await example(page, "A small site");
    await page.getByText("What the query reads").click();
    const values = () => page.locator("details li code").allInnerTexts();
    await expect.poll(values).toEqual(Array(23).fill("1"));
    await page.getByLabel("Look up a path").fill("/none");
    await expect.poll(async () => (await values()).at(-1)).toBe("0");
    expect((await values()).slice(0, -1)).not.toContain("0");
    await example(page, "The same, fuse");
    await expect.poll(async () => (await values()).length).toBe(3);
    // The query is for a path in the filter, so that the slots give its fingerprint, which is not zero.
    const slots = (await values()).map((value) => Number.parseInt(value, 16));
    expect(new Set(slots).size).toBe(3);
    expect(await verdictOf(page)).toBe("may exist");
  });
});

test("measures a false-positive rate near the one that was asked for", async () => {
  await visit(PATHS, async (page) => {
    await example(page, "A rate of 10 %");
    await page.getByRole("button", { name: "Look up 1,000,000 other paths" }).click();
    const result = page.getByText("false positives: a rate of");
    await result.waitFor({ timeout: 120_000 });
    const rate = Number((await textOf(result)).split(" ").at(-1));
    expect(rate).toBeGreaterThan(0.08);
    expect(rate).toBeLessThan(0.105);
  });
});

test("reads a sitemap, a folder, a list and a filter", async () => {
  await visit(PATHS, async (page) => {
    const [files, folder] = [
      page.locator("input[type=file]").first(),
      page.locator("input[type=file]").nth(1),
    ];
    const ask = async (path: string) => {
      await page.getByLabel("Look up a path").fill(path);
      await page.waitForTimeout(50);
      return await verdictOf(page);
    };
    const sitemap = `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
      <url><loc>https://a.example/from-sitemap</loc></url></urlset>`;
    await files.setInputFiles({
      name: "sitemap.xml",
      mimeType: "text/xml",
      buffer: Buffer.from(sitemap),
    });
    await page.getByText("From sitemap.xml").waitFor();
    expect([await ask("/from-sitemap"), await ask("/cart")]).toEqual(["may exist", "cannot exist"]);
    await files.setInputFiles({
      name: "list.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("/one\n/two\n"),
    });
    await page.getByText("From list.txt").waitFor();
    expect([await ask("/two"), await ask("/from-sitemap")]).toEqual(["may exist", "cannot exist"]);
    await folder.setInputFiles(join(SITE, "api"));
    await page.getByText(/From \d+ files/).waitFor();
    expect([await ask("/@hedgerow/snapshot/reader.html"), await ask("/reader.html")]).toEqual([
      "may exist",
      "cannot exist",
    ]);
    const filter = Buffer.from(
      '{"version":"test","bloom":{"n":4,"p":1e-7,"m":138,"k":23,"s":0}}\n"/qqpVeKKgABfaKAFV6qqii/A"\n',
    );
    await files.setInputFiles({ name: "paths.filter", mimeType: "", buffer: filter });
    await page.getByText("From paths.filter").waitFor();
    expect([await ask("/apple/pie"), await ask("/apple")]).toEqual(["may exist", "cannot exist"]);
  });
});

test("refuses a forged filter and a broken sitemap, and goes on", async () => {
  await visit(PATHS, async (page) => {
    await example(page, "A forged filter");
    expect(await errorOf(page)).toMatch(/^ERR_FILTER_FORMAT /);
    const buffer = Buffer.from("<urlset><url>");
    await page
      .locator("input[type=file]")
      .first()
      .setInputFiles({ name: "x.xml", mimeType: "", buffer });
    await page.getByText("unclosed tag").waitFor();
    await example(page, "A small site");
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(await verdictOf(page)).toBe("may exist");
  });
});

test("opens a snapshot and verifies every frame", async () => {
  await visit(SNAPSHOTS, async (page) => {
    await page.getByText("16,777,216 bytes").waitFor();
    await page.getByRole("button", { name: "Verify every frame" }).click();
    await page.getByText("All frames verified.").waitFor();
    // The second document follows the first one and a hole of 37 blocks; a row has 128 blocks.
    const block = Math.ceil(statSync(inRoot("docs", "README.md")).size / 4096) + 37;
    const { width = 0 } = (await page.locator("canvas").boundingBox()) ?? {};
    await page.locator("canvas").hover({ position: { x: ((block + 0.5) / 128) * width, y: 2 } });
    await page.getByText(/^Frame ([2-9]|\d\d)/).waitFor();
    expect(await page.getByText("BLAKE3:").textContent()).toMatch(/[0-9a-f]{64}/);
  });
});

test("reads a delta and its base from a server of another origin", async () => {
  const url = elsewhere("examples/changed.vhs");
  await visit(
    `${SNAPSHOTS}#url=${encodeURIComponent(url)}`,
    async (page) => {
      await page.getByRole("button", { name: "Open" }).click();
      await page.getByText("A delta of depth 1").waitFor();
      await page.getByRole("button", { name: "Verify every frame" }).click();
      await page.getByText("All frames verified.").waitFor();
      await page.getByRole("button", { name: "Read", exact: true }).click();
      await expect.poll(() => page.locator("pre.dump").textContent()).toContain("00000400  00 00");
    },
    [new URL(url).origin],
  );
});

test("reads a part of an image without the other frames", async () => {
  await visit(SNAPSHOTS, async (page) => {
    await page.getByText("16,777,216 bytes").waitFor();
    let received = 0;
    page.context().on("request", (request) => {
      const [, first, last] = /^bytes=(\d+)-(\d+)$/.exec(request.headers().range ?? "") ?? [];
      received += Number(last) - Number(first) + 1;
    });
    await page.getByLabel("Read 256 bytes of the image at").fill("0");
    await page.getByRole("button", { name: "Read", exact: true }).click();
    const start = readFileSync(inRoot("docs", "README.md"), "latin1").slice(0, 10);
    await expect.poll(() => page.locator("pre.dump").textContent()).toContain(start);
    expect(received).toBeGreaterThan(0);
    expect(received).toBeLessThan(statSync(join(SITE, "examples/disk.vhs")).size / 10);
    const said = await textOf(page.getByText("compressed bytes."));
    expect(said).toContain(`Read ${received.toLocaleString("en")} of`);
  });
});

test("opens a delta from files, with its base among them", async () => {
  await visit(SNAPSHOTS, async (page) => {
    const paths = ["changed.vhs", "disk.vhs"].map((name) => join(SITE, "examples", name));
    await page.locator("input[type=file]").setInputFiles(paths);
    await page.getByText("A delta of depth 1").waitFor();
    await page.getByRole("button", { name: "Verify every frame" }).click();
    await page.getByText("All frames verified.").waitFor();
    await example(page, "A disk image");
    await page.getByText("A delta of depth 1").waitFor({ state: "detached" });
    await page.locator("input[type=file]").setInputFiles(paths.slice(0, 1));
    await page.getByText("A delta of depth 1").waitFor();
    await page.getByRole("button", { name: "Verify every frame" }).click();
    await expect.poll(() => errorOf(page)).toMatch(/^ERR_SOURCE .*base object/);
  });
});

test("refuses damaged, forged and foreign files with the library's errors", async () => {
  await visit(SNAPSHOTS, async (page) => {
    await example(page, "A damaged frame");
    await page.getByRole("button", { name: "Verify every frame" }).click();
    await expect.poll(() => errorOf(page)).toMatch(/^ERR_SNAPSHOT_FORMAT .*digest/);
    await example(page, "A forged manifest");
    await expect
      .poll(() => errorOf(page))
      .toMatch(/^ERR_SNAPSHOT_FORMAT .*forged\.vhs: .*manifest/);
    await example(page, "Not a snapshot");
    await expect.poll(() => errorOf(page)).toMatch(/^ERR_SNAPSHOT_FORMAT .*text\.vhs/);
    await example(page, "A disk image");
    await page.getByText("16,777,216 bytes").waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
  });
});

test("cancels a verification", async () => {
  await visit(SNAPSHOTS, async (page) => {
    // The manifest has been read by now.
    await page.route("**/disk.vhs", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      await route.continue().catch(() => {});
    });
    await page.getByText("16,777,216 bytes").waitFor();
    await page.getByRole("button", { name: "Verify every frame" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("button", { name: "Verify every frame" }).waitFor();
    expect(await page.getByText("All frames verified.").count()).toBe(0);
    expect(await page.getByRole("alert").count()).toBe(0);
  });
});

test("a link cannot change what a tool does, nor make it send requests elsewhere", async () => {
  await visit(`${PATHS}#exponent=abc&kind=none&query=%00`, async (page) => {
    expect(await errorOf(page)).toMatch(/^ERR_ARGUMENT /);
  });
  // The first request to another origin would fail the visit.
  await visit(
    `${SNAPSHOTS}#url=${encodeURIComponent(elsewhere("examples/disk.vhs"))}`,
    async (page) => {
      await page.waitForTimeout(500);
      expect(await page.getByLabel("URL of a snapshot").inputValue()).toContain(
        "/examples/disk.vhs",
      );
      expect(await page.getByText("16,777,216 bytes").count()).toBe(0);
    },
  );
  await visit(HEADERS, async (page) => {
    await page.getByLabel("Rules").fill("accept");
    await page.evaluate(() => {
      location.hash = "#headers";
    });
    await page.waitForTimeout(500);
    expect(await page.getByLabel("Rules").inputValue()).toBe("accept");
  });
});

/** Presses Tab until an element has the focus, as someone without a mouse would. */
async function tabTo(page: Page, selector: string): Promise<void> {
  for (let presses = 0; presses < 150; presses += 1) {
    await page.keyboard.press("Tab");
    const isThere = await page.evaluate((text) => document.activeElement?.matches(text), selector);
    if (isThere) return;
  }
  throw new Error(`the keyboard does not reach ${selector}`);
}

test("everything in the tools works by keyboard", async () => {
  await visit(HEADERS, async (page) => {
    await tabTo(page, "#rules");
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("accept");
    await expect
      .poll(async () => (await rowsOf(page)).find(([name]) => name === "Accept")?.[2])
      .toBe("stripped");
    await tabTo(page, "input[value=hop-by-hop]");
    await page.keyboard.press("Space");
    await tabTo(page, "input[type=radio]");
    await page.keyboard.press("ArrowRight");
    await expect
      .poll(async () => (await rowsOf(page)).find(([name]) => name === "Accept")?.[2])
      .toBe("kept");
    await tabTo(page, "section.scroll");
    await tabTo(page, ".buttons button");
    await page.keyboard.press("Enter");
    await page.locator("table.bars tbody tr").nth(2).waitFor();
  });
  await visit(PATHS, async (page) => {
    await tabTo(page, "#paths");
    await tabTo(page, "input[type=file]");
    await tabTo(page, "#rate");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => page.evaluate(() => location.hash)).toContain("exponent=6");
    await tabTo(page, "#query");
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("/cart");
    await expect.poll(() => verdictOf(page)).toBe("may exist");
    await tabTo(page, "summary");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("details li").count()).toBeGreaterThan(1);
  });
  await visit(SNAPSHOTS, async (page) => {
    await tabTo(page, "#url");
    await page.keyboard.press("ControlOrMeta+A");
    await page.keyboard.type("/examples/changed.vhs");
    await page.keyboard.press("Enter");
    await page.getByText("A delta of depth 1").waitFor();
    await tabTo(page, "#frame");
    await page.keyboard.press("ArrowRight");
    await page.getByText(/^Frame 2 of/).waitFor();
    await tabTo(page, "#offset");
    await page.keyboard.press("Enter");
    await page.locator("pre.dump").waitFor();
  });
});
