// Builds the docs of all that can be imported into target/docs, and runs all that documents say. Fails if
// something public is not documented, if a link leads nowhere, or if a block of code does not do what it says.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

import { entriesOf } from "./docs/entries.mjs";
import { indexPage } from "./docs/index-page.mjs";
import { publishedCrates } from "./lib/crates.mjs";
import { inRoot } from "./lib/paths.mjs";
import { main, run, step } from "./lib/run.mjs";
import { setUpTests } from "./lib/set-up-tests.mjs";
import { installSuite } from "./lib/suites.mjs";

const OUTPUT = inRoot("target", "docs");

await main(() => {
  // The types of packages come from their modules, too, and documents say what to install: what is packed.
  setUpTests();
  installSuite("scripts/docs");
  rmSync(OUTPUT, { recursive: true, force: true });
  mkdirSync(OUTPUT, { recursive: true });
  const packages = readdirSync(inRoot("js")).flatMap(documentPackage);
  const crates = documentCrates();
  const groups = [
    { title: "JavaScript", packages },
    { title: "Rust", packages: crates },
  ];
  writeFileSync(`${OUTPUT}/index.html`, indexPage(groups));
  step("documented: target/docs/index.html");
  step("what documents say");
  run("vitest", ["run", "--project", "documents"]);
  step("all documents are right");
});

/**
 * Documents a package, if it has anything that can be imported.
 *
 * @param {string} folder in `js`
 */
function documentPackage(folder) {
  const cwd = inRoot("js", folder);
  const entries = entriesOf(cwd);
  if (entries.length === 0) return [];
  const { name, version, description } = JSON.parse(readFileSync(`${cwd}/package.json`, "utf8"));
  step(`TypeScript: ${name}`);
  const docs = inRoot("scripts", "docs");
  run(
    process.execPath,
    [
      ...[`${docs}/node_modules/typedoc/bin/typedoc`, "--options", `${docs}/typedoc.jsonc`],
      ...["--logLevel", "Warn", "--name", name, "--includeVersion", "--readme", "README.md"],
      ...["--tsconfig", "tsconfig.json", "--displayBasePath", "src"],
      ...["--out", `${OUTPUT}/${folder}`],
      ...entries.flatMap(({ source }) => ["--entryPoints", source]),
    ],
    { cwd },
  );
  return [{ name, version, description, href: `${folder}/index.html` }];
}

/** Documents the crates that are published. */
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
  // Moved, so that nothing stays of crates that are no more: cargo misses it, and makes it anew.
  renameSync(`${target}/doc`, `${OUTPUT}/rust`);
  return crates.map(({ name, version, description }) => {
    const href = `rust/${name.replaceAll("-", "_")}/index.html`;
    return { name, version, description, href };
  });
}
