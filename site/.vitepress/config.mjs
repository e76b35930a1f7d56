// The site. Its content stays where it is in the repository.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

import { transformerStyleToClass } from "@shikijs/transformers";
import { defineConfig } from "vitepress";

import { entriesOf } from "../../scripts/docs/api.mjs";
import { inRoot, root } from "../../scripts/lib/paths.mjs";
import { listFiles } from "../../scripts/lib/run.mjs";
import { addressOf, targetOf } from "./pages.mjs";

const isFile = (path) => existsSync(inRoot(path));

/** Makes relative links lead to pages. Those to other files of the repository become plain text. */
function linkToPages(md) {
  md.core.ruler.push("pages", ({ tokens, env }) => {
    // A title is parsed by itself, without a document.
    if (env.path === undefined) return;
    const document = relative(root, env.realPath ?? env.path);
    for (const { children } of tokens) {
      const opened = [];
      for (const [index, token] of (children ?? []).entries()) {
        if (token.type === "link_close" && opened.pop() === undefined) token.tag = "span";
        if (token.type !== "link_open") continue;
        const href = withoutCount(token.attrGet("href"), children[index + 1]?.content);
        const isRelative = !/^([a-z]+:|#|\/)/.test(href);
        const target = isRelative ? targetOf(document, href, isFile) : href;
        opened.push(target);
        if (target === undefined) Object.assign(token, { tag: "span", attrs: [] });
        else token.attrSet("href", target);
      }
    }
  });
}

/** Returns a link to a symbol without a number: TypeDoc counts headings of the same name that it does not print. */
const withoutCount = (href, text) =>
  href.endsWith(`#${text?.toLowerCase()}-1`) ? href.slice(0, -2) : href;

/** Aligns cells of tables by a class, since the policy allows no style attributes. An empty header is no header. */
function mendTables(md) {
  md.core.ruler.push("tables", ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      if (token.type === "th_open" && tokens[index + 1].content === "") {
        token.tag = "td";
        tokens[index + 2].tag = "td";
      }
      const style = token.attrGet("style");
      if (style === null) continue;
      token.attrs = token.attrs.filter(([name]) => name !== "style");
      token.attrJoin("class", style.replace("text-align:", "align-"));
    }
  });
}

/** Documents lie outside this folder, so they do not find Vue by themselves. */
const vueOfSite = {
  name: "vue-of-site",
  enforce: "pre",
  resolveId(id, _importer, { ssr }) {
    return ssr && /^vue(\/|$)/.test(id) ? { id, external: true } : undefined;
  },
};

/** Colours of code, as classes instead of style attributes. */
const colours = transformerStyleToClass({ classPrefix: "c" });

/** A hedge. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#2f7231" d="M1 14V9a3 3 0 0 1 4-3 3 3 0 0 1 6 0 3 3 0 0 1 4 3v5z"/></svg>`;

/** Returns the content security policy of a page. @param {string} html */
function policyOf(html) {
  const scripts = [...html.matchAll(/<script(?![^>]* src=)[^>]*>(.*?)<\/script>/gs)];
  const hashes = scripts.map(
    ([, code]) => `'sha256-${createHash("sha256").update(code).digest("base64")}'`,
  );
  return [
    "default-src 'none'",
    `script-src 'self' 'wasm-unsafe-eval' ${hashes.join(" ")}`,
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
}

/** Returns the first heading of a document. @param {string} document */
const titleOf = (document) =>
  /^# (.+)$/m.exec(readFileSync(inRoot(document), "utf8"))?.[1].replaceAll("`", "");

/** Returns the items of documents in the sidebar. @param {readonly string[]} documents */
const itemsOf = (documents) =>
  documents.map((document) => ({ text: titleOf(document), link: `/${addressOf(document)}` }));

/**
 * Returns the sidebar of the pages below some addresses.
 *
 * @param {readonly string[]} addresses
 * @param {(readonly [text: string, items: { text: string, link: string }[]])[]} groups
 */
function sidebarOf(addresses, ...groups) {
  const sidebar = groups.map(([text, items]) => ({ text, items }));
  return Object.fromEntries(addresses.map((address) => [address, sidebar]));
}

const apiItems = () =>
  packages
    .flatMap((folder) => entriesOf(inRoot("js", folder)))
    .map(({ specifier }) => ({ text: specifier, link: `/api/${specifier}` }));

/** @param {string} crate */
const rustdocItem = (crate) => ({ text: crate, link: `https://docs.rs/${crate}` });

const guides = [
  "headers",
  "paths",
  "rollout",
  "snapshots",
  "cache",
  "disks",
  "sandboxes",
  "fleet",
  "deltas",
];
const packages = ["edge", "snapshot", "fleet", "cli", "create"];
const crates = ["headers", "paths", "snapshot"];
const formats = ["path-filter", "vhs", "cache", "store", "disk", "fleet"];
const tools = ["headers", "paths", "snapshots"];
const rootDocuments = ["CHANGELOG.md", "CONTRIBUTING.md"];
const project = ["benchmarks", "benchmark-tables", "architecture", "security", "compatibility"];

export default defineConfig({
  title: "Hedgerow",
  description:
    "Strip internal headers, reject paths that cannot exist, and restore disk images fast",
  lang: "en-GB",
  srcDir: "..",
  outDir: "../target/site",
  cacheDir: "../target/site-cache",
  metaChunk: true,
  // Else a page would load those of all links that are in view.
  router: { prefetchLinks: false },
  srcExclude: [
    "{bench,corpora,node_modules,scripts,tests}/**",
    "target/!(site-api)/**",
    "target/site-api/*/index.md",
    "{crates,examples,js,site}/**/{node_modules,target,dist,wasm,.work}/**",
  ],
  rewrites: (path) => {
    const address = addressOf(path);
    if (address === undefined) throw new Error(`${path}: not a page; see pages.mjs`);
    return `${address}.md`;
  },
  // A transition would be switched off by a style element, which the policy forbids.
  appearance: { disableTransition: false },
  head: [
    ["link", { rel: "stylesheet", href: "/code.css" }],
    ["link", { rel: "icon", href: `data:image/svg+xml,${encodeURIComponent(ICON)}` }],
  ],
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
    codeTransformers: [colours],
    config(md) {
      linkToPages(md);
      mendTables(md);
    },
  },
  vite: { plugins: [vueOfSite], worker: { format: "es" } },
  transformHtml: (html) =>
    html
      // The theme sets these again from its script, which the policy allows.
      .replaceAll(/(<[a-z][^>]*?) style="[^"]*"/g, "$1")
      // Valid HTML has `as` only without `stylesheet`.
      .replaceAll(/rel="preload stylesheet" (href="[^"]*") as="style"/g, 'rel="stylesheet" $1')
      .replace(
        "<head>",
        `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policyOf(html)}">`,
      ),
  buildEnd({ outDir }) {
    writeFileSync(join(outDir, "code.css"), colours.getCSS());
  },
  themeConfig: {
    search: { provider: "local" },
    outline: [2, 3],
    nav: [
      { text: "Guides", link: "/overview", activeMatch: "^/(overview|guides/|examples/)" },
      { text: "Playground", link: "/playground/headers", activeMatch: "^/playground/" },
      { text: "Packages", link: "/packages/edge", activeMatch: "^/(packages|crates|api)/" },
      { text: "Formats", link: "/docs/path-filter", activeMatch: `^/docs/(${formats.join("|")})` },
      { text: "Benchmarks", link: "/docs/benchmarks" },
    ],
    // Groups that can be closed are buttons inside of buttons.
    sidebar: {
      ...sidebarOf(
        ["/overview", "/guides/", "/examples/"],
        ["Start", [{ text: "Overview", link: "/overview" }]],
        ["Guides", itemsOf(guides.map((name) => `docs/guides/${name}.md`))],
        ["Examples", itemsOf(listFiles("examples/*/README.md"))],
      ),
      ...sidebarOf(
        ["/playground/"],
        ["Playground", itemsOf(tools.map((name) => `site/playground/${name}.md`))],
      ),
      ...sidebarOf(
        ["/packages/", "/crates/", "/api/"],
        ["Packages", itemsOf(packages.map((name) => `js/${name}/README.md`))],
        ["API", apiItems()],
        ["Crates", itemsOf(crates.map((name) => `crates/${name}/README.md`))],
        ["rustdoc", crates.map((name) => rustdocItem(`hedgerow-${name}`))],
      ),
      ...sidebarOf(
        ["/"],
        ["Formats", itemsOf(formats.map((name) => `docs/${name}.md`))],
        ["Project", itemsOf([...project.map((name) => `docs/${name}.md`), ...rootDocuments])],
      ),
    },
  },
});
