import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { sitemap } from "../../../src/paths/sources/sitemap.js";
import { expectError, keysIn } from "../../support/keys.js";
import { makeTree } from "../../support/tree.js";

const NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9";
const urlset = (content: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="${NAMESPACE}">${content}</urlset>`;
const sitemapOf = (content: string | Uint8Array, name = "sitemap.xml") =>
  sitemap(`${makeTree({ [name]: content })}/${name}`);

test("adds the path of each URL, whatever its host", async () => {
  const xml = urlset(`
    <url><loc>https://example.com/</loc><lastmod>2026-01-01</lastmod></url>
    <url><loc>
      https://other.example/caf%C3%A9?a=1&amp;b=2
    </loc><priority>high</priority></url>
    <url><loc><![CDATA[https://example.com/a&b]]></loc></url>
    <url><loc>https://example.com/${"long/".repeat(1000)}</loc></url>
    <url/>`);
  expect(await keysIn(sitemapOf(xml))).toEqual([
    ...["/", "/a&b", "/café", `/${"long/".repeat(1000).slice(0, -1)}`],
  ]);
});

test("trims only XML white space around a URL", async () => {
  const xml = urlset("<url><loc>\t\r\n https://example.com/\ufeff/\u00a0 \n</loc></url>");
  expect(await keysIn(sitemapOf(xml))).toEqual(["/\ufeff/\u00a0"]);
});

test("ignores other elements of a sitemap", async () => {
  const xml = urlset(`
    <url>
      <loc>https://example.com/a</loc>
      <image:image><image:loc>https://example.com/image.png</image:loc></image:image>
      <!-- <loc>https://example.com/no</loc> -->
    </url>`);
  expect(await keysIn(sitemapOf(xml))).toEqual(["/a"]);
});

test("adds alternates on the same host", async () => {
  const link = (rel: string, href: string) => `<xhtml:link rel="${rel}" href="${href}"/>`;
  const xml = urlset(`
    <url>
      ${link("alternate", "https://example.com/de/a")}
      <loc>https://Example.com/a</loc>
      ${link("alternate", "https://example.fr/a-fr")}
      ${link("canonical", "https://example.com/other")}
    </url>
    <url><loc>https://example.com/b</loc></url>`);
  expect(await keysIn(sitemapOf(xml))).toEqual(["/a", "/b", "/de/a"]);
});

test("reads sitemap elements with a namespace prefix", async () => {
  const xml = `<s:urlset xmlns:s="${NAMESPACE}"><s:url><s:loc>https://e.com/a</s:loc></s:url></s:urlset>`;
  expect(await keysIn(sitemapOf(xml))).toEqual(["/a"]);
});

test("reads a compressed sitemap", async () => {
  const xml = urlset("<url><loc>https://example.com/a</loc></url>");
  expect(await keysIn(sitemapOf(gzipSync(xml), "sitemap.xml.gz"))).toEqual(["/a"]);
});

test("reads a large sitemap chunk by chunk", async () => {
  const numbers = Array.from({ length: 20_000 }, (_, number) => number);
  const urls = numbers.map((number) => `<url><loc>https://example.com/é/${number}</loc></url>`);
  expect(await keysIn(sitemapOf(urlset(urls.join("\n"))))).toHaveLength(20_000);
});

test("refuses XML that is not a sitemap", async () => {
  const index = `<sitemapindex xmlns="${NAMESPACE}"><sitemap/></sitemapindex>`;
  await expectError(sitemapOf(index), "give the sitemaps that it lists");
  await expectError(sitemapOf("<html><body/></html>"), "expected <urlset>, found <html>");
  await expectError(sitemapOf(""), "expected a sitemap");
  await expectError(sitemapOf("paths"), "expected a sitemap");
  await expectError(sitemapOf(urlset("").slice(0, -3)), "expected a sitemap");
  await expectError(sitemapOf(urlset("<url><loc>&undefined;</loc></url>")), "expected a sitemap");
  await expectError(sitemapOf(Uint8Array.of(0x3c, 0xff)), "expected UTF-8");
  await expectError(sitemapOf("<urlset/>", "sitemap.xml.gz"), "expected a sitemap");
  const cut = gzipSync(urlset("<url><loc>https://example.com/a</loc></url>")).subarray(0, 60);
  await expectError(sitemapOf(cut, "sitemap.xml.gz"), "expected a sitemap");
});

test("does not expand nested entities", async () => {
  const bomb = `<!DOCTYPE urlset [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>${urlset("<url><loc>&b;</loc></url>").slice(39)}`;
  await expectError(sitemapOf(bomb), "expected a sitemap");
});
