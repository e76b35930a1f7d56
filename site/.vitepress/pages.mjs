/** The documents of the repository that are pages, and their addresses. */

/**
 * Patterns of documents, and the addresses of their pages without the leading slash. The first match counts.
 *
 * @type {readonly (readonly [document: RegExp, address: string])[]}
 */
const PAGES = [
  [/^README\.md$/, "overview"],
  [/^site\/(.+)\.md$/, "$1"],
  [/^docs\/README\.md$/, "docs/index"],
  [/^docs\/guides\/(.+)\.md$/, "guides/$1"],
  [/^docs\/(.+)\.md$/, "docs/$1"],
  [/^js\/([^/]+)\/README\.md$/, "packages/$1"],
  [/^crates\/([^/]+)\/README\.md$/, "crates/$1"],
  [/^examples\/([^/]+)\/README\.md$/, "examples/$1"],
  [/^target\/site-api\/[^/]+\/(.+)\.md$/, "api/$1"],
  [/^(CHANGELOG|CONTRIBUTING|SECURITY)\.md$/, "$1"],
];

/** Returns the address of the page of a document, without the leading slash; or `undefined` if it has none. */
export function addressOf(/** @type {string} */ document) {
  for (const [pattern, address] of PAGES) {
    if (!pattern.test(document)) continue;
    const found = document.replace(pattern, address);
    return /^[A-Z]+$/.test(found) ? found.toLowerCase() : found;
  }
  return undefined;
}

/**
 * Returns the address to which a link of a document leads, or `undefined` if it leads to a file that is no page.
 *
 * @param {string} document
 * @param {string} href relative to the document, perhaps with a fragment
 * @param {(path: string) => boolean} isFile
 */
export function targetOf(document, href, isFile) {
  const [path = "", fragment] = href.split("#");
  const base = new URL(document, "file:///");
  const absolute = decodeURI(
    new URL(path === "" ? document.split("/").at(-1) : path, base).pathname,
  )
    .slice(1)
    .replace(/\/$/, "");
  const readme = absolute === "" ? "README.md" : `${absolute}/README.md`;
  const file = isFile(readme) ? readme : absolute;
  const address = addressOf(file);
  if (address === undefined) return undefined;
  const page = `/${address.replace(/(^|\/)index$/, "$1")}`;
  return fragment === undefined ? page : `${page}#${fragment}`;
}
