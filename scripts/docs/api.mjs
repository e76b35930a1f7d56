// The API docs: the modules that a package exports, TypeDoc on them, and the reference in target/docs.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

import { publishedCrates } from "../lib/crates.mjs";
import { inRoot } from "../lib/paths.mjs";
import { run, StepError, step } from "../lib/run.mjs";
import { installSuite } from "../lib/suites.mjs";

const DOCS = inRoot("scripts", "docs");

/**
 * Documents a package, if it has an API. Fails if a public item is undocumented or a link is broken.
 *
 * @param {string} folder in `js`
 * @param {string} out the folder of the pages
 * @param {string[]} args further arguments of TypeDoc
 * @returns {{ name: string, version: string, description: string } | undefined}
 */
export function documentPackage(folder, out, args) {
  const cwd = inRoot("js", folder);
  const entries = entriesOf(cwd);
  if (entries.length === 0) return undefined;
  const { name, version, description } = JSON.parse(readFileSync(`${cwd}/package.json`, "utf8"));
  step(`TypeScript: ${name}`);
  run(
    process.execPath,
    [
      ...[`${DOCS}/node_modules/typedoc/bin/typedoc`, "--options", `${DOCS}/typedoc.jsonc`],
      ...["--logLevel", "Warn", "--name", name, "--tsconfig", "tsconfig.json"],
      ...["--displayBasePath", "src", "--out", out, ...args],
      ...entries.flatMap(({ source }) => ["--entryPoints", source]),
    ],
    { cwd },
  );
  return { name, version, description };
}

/** Exports without an API. */
const NO_API = /\.(json|wasm)$/;

/** @typedef {{ specifier: string, module: string, source: string }} Entry */

/**
 * Returns the entries of a package. Fails if an export does not come from `src`, so that none is left out.
 *
 * @param {string} folder the folder of the package
 * @returns {Entry[]} import specifier, module path without folder and extension, and source of each
 */
export function entriesOf(folder) {
  const { name, exports = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const paths = Object.keys(exports).filter((path) => !NO_API.test(path));
  return paths.map((path) => {
    const specifier = `${name}${path.slice(1)}`;
    const module = /^\.\/dist\/(.+)\.d\.ts$/.exec(exports[path].types)?.[1];
    if (module === undefined) {
      throw new StepError(`${specifier}: expected types in dist, found ${exports[path].types}`);
    }
    const source = join("src", `${module}.ts`);
    if (!existsSync(join(folder, source))) {
      throw new StepError(`${specifier}: expected its source, ${join(folder, source)}`);
    }
    return { specifier, module, source };
  });
}

const OUTPUT = inRoot("target", "docs");

/**
 * Builds the API docs in target/docs and runs the code in all documents. Fails if a public item is undocumented, a
 * link is broken, or a code block does not do what the document says.
 */
export function runDocuments() {
  installSuite("scripts/docs");
  rmSync(OUTPUT, { recursive: true, force: true });
  mkdirSync(OUTPUT, { recursive: true });
  const packages = readdirSync(inRoot("js")).flatMap(documentFolder);
  writeFileSync(`${OUTPUT}/index.html`, indexPage([...packages, ...documentCrates()]));
  step("API docs: target/docs/index.html");
  step("running the code in all documents");
  run("vitest", ["run", "--project", "documents"]);
  step("all documents passed");
}

/** @typedef {{ name: string, version: string, description: string, href: string }} Documented */

/** Documents a package if it has an API. @param {string} folder in `js` @returns {Documented[]} */
function documentFolder(folder) {
  const args = ["--includeVersion", "--readme", "README.md"];
  const documented = documentPackage(folder, `${OUTPUT}/${folder}`, args);
  return documented === undefined ? [] : [{ ...documented, href: `${folder}/index.html` }];
}

/** Documents the published crates. @returns {Documented[]} */
function documentCrates() {
  const crates = publishedCrates();
  step("Rust: documentation");
  const target = inRoot("target", "rustdoc");
  run(
    "cargo",
    [
      ...["doc", "--quiet", "--no-deps", "--all-features", "--target-dir", target],
      ...crates.flatMap(({ name }) => ["--package", name]),
    ],
    { env: { RUSTDOCFLAGS: "--deny warnings" } },
  );
  // Moved, so that cargo writes a new folder next time and pages of removed crates disappear.
  renameSync(`${target}/doc`, `${OUTPUT}/rust`);
  return crates.map(({ name, version, description }) => {
    const href = `rust/${name.replaceAll("-", "_")}/index.html`;
    return { name, version, description, href };
  });
}

/** Renders the page that lists packages and crates. @param {Documented[]} documented */
function indexPage(documented) {
  const escaped = (/** @type {string} */ text) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
  const entries = documented.map(
    ({ name, version, description, href }) =>
      `<dt><a href="${href}">${name}</a> ${version}</dt>\n<dd>${escaped(description)}</dd>\n`,
  );
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Hedgerow: API</title>
<style>
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }
dt { font-family: ui-monospace, monospace; margin-top: 1rem; }
dd { margin: 0; }
</style>
<h1>Hedgerow: API</h1>
<dl>
${entries.join("")}</dl>
</html>
`;
}
