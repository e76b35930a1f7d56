/** The files of the site: valid HTML, links that lead somewhere, and all of the API. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, posix } from "node:path";
import { HtmlValidate } from "html-validate";
import { expect, test } from "vitest";

import { entriesOf } from "../../scripts/docs/api.mjs";
import { inRoot } from "../../scripts/lib/paths.mjs";
import { PAGES, SITE } from "./support.js";

const API = inRoot("target", "site-api");

const validator = new HtmlValidate({ extends: ["html-validate:standard"] });
const contents = new Map(PAGES.map((file) => [file, readFileSync(join(SITE, file), "utf8")]));

test.each(PAGES)("%s is valid HTML", async (file) => {
  const { results } = await validator.validateString(contents.get(file) ?? "");
  const messages = results.flatMap(({ messages }) =>
    messages.map(({ line, ruleId, message }) => `${line}: ${ruleId}: ${message}`),
  );
  expect([...new Set(messages)]).toEqual([]);
});

/** Returns the values of an attribute. */
const valuesOf = (html: string, attribute: string) =>
  [...html.matchAll(new RegExp(`<[^>]* ${attribute}="([^"]*)"`, "g"))].map(([, value = ""]) =>
    value.replaceAll("&amp;", "&"),
  );

test.each(PAGES)("all links of %s lead to files and headings", (file) => {
  const html = contents.get(file) ?? "";
  const broken = [...valuesOf(html, "href"), ...valuesOf(html, "src")].filter((link) => {
    if (/^(https:|data:|mailto:)/.test(link)) return false;
    const url = new URL(link, `http://site/${file}`);
    if (url.host !== "site") return true;
    const path = decodeURIComponent(url.pathname).slice(1);
    const candidates = [path, `${path}.html`, posix.join(path, "index.html")];
    const target = candidates.find(
      (name) => name !== "" && existsSync(join(SITE, name)) && !name.endsWith("/"),
    );
    if (target === undefined) return true;
    const anchor = decodeURIComponent(url.hash.slice(1));
    if (anchor === "" || !target.endsWith(".html") || anchor.startsWith("url=")) return false;
    return !valuesOf(contents.get(target) ?? "", "id").includes(anchor);
  });
  expect(broken).toEqual([]);
});

/** What TypeDoc read from a source. */
interface Reflection {
  readonly name: string;
  readonly kind: number;
  readonly children?: readonly Reflection[];
  readonly signatures?: readonly Reflection[];
  readonly comment?: {
    readonly blockTags?: readonly {
      readonly tag: string;
      readonly content: readonly { text: string }[];
    }[];
  };
}

const MODULES = readdirSync(API)
  .filter((file) => file.endsWith(".json"))
  .flatMap(
    (file) => (JSON.parse(readFileSync(join(API, file), "utf8")) as Reflection).children ?? [],
  );

/** Returns the examples of a symbol, and of its members and signatures. */
function examplesOf({ comment, children = [], signatures = [] }: Reflection): string[] {
  const tags = comment?.blockTags?.filter(({ tag }) => tag === "@example") ?? [];
  const own = tags.map(({ content }) => content.map(({ text }) => text).join(""));
  return [...own, ...[...children, ...signatures].flatMap(examplesOf)];
}

/** Returns text without anything that Markdown, HTML and highlighting change. */
const bare = (text: string) => text.replaceAll(/&[a-z#0-9]+;|[^\p{L}\p{N}]/gu, "");

test("the API has the modules that the packages export", () => {
  const entries = readdirSync(inRoot("js")).flatMap((folder) => entriesOf(inRoot("js", folder)));
  const specifiers = entries.map(({ specifier }) => specifier);
  expect(MODULES.map(({ name }) => name).sort()).toEqual(specifiers.sort());
});

test.each(MODULES)(
  "the API has every export of $name, and its examples",
  ({ name, children = [] }) => {
    const page = contents.get(`api/${name}.html`) ?? "";
    const headings = [...page.matchAll(/<h[23] id="[^"]*"[^>]*>(.*?)<a /g)].map(([, text = ""]) =>
      text.replaceAll(/<[^>]*>|\(\)|&lt;.*/g, "").trim(),
    );
    const text = bare(page.replaceAll(/<[^>]*>/g, ""));
    expect(children.length).toBeGreaterThan(0);
    for (const symbol of children) {
      expect(headings).toContain(symbol.name);
      for (const example of examplesOf(symbol)) {
        const code = example.replaceAll(/```\w*/g, "").replaceAll("*\\/", "*/");
        expect(text).toContain(bare(code));
      }
    }
  },
);
