/** Documents inside packages: registries show them without the repository around them. */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { describe, expect, test } from "vitest";

import { PUBLISHED } from "../../scripts/audit/lockfiles.mjs";
import { publishedCrates } from "../../scripts/lib/crates.mjs";
import { inRoot, root } from "../../scripts/lib/paths.mjs";
import { anchorsOf, linksOf } from "../docs/links.js";
import { packageFolder } from "./support/project.js";

/** A package or a crate, and the files in it, relative to its folder. */
interface Packed {
  readonly folder: string;
  readonly files: () => ReadonlySet<string>;
}

/** Returns the files of a package, as npm installed them from its tarball. */
function filesOfPackage(folder: string): Set<string> {
  const { name } = JSON.parse(readFileSync(inRoot(folder, "package.json"), "utf8"));
  const installed = packageFolder(name);
  const files = readdirSync(installed, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(installed, join(entry.parentPath, entry.name)));
  return new Set(files.filter((file) => !file.startsWith("node_modules")));
}

function filesOfCrate(name: string): Set<string> {
  const args = ["package", "--list", "--quiet", "--allow-dirty", "--offline", "--package", name];
  const listed = execFileSync("cargo", args, { cwd: root, encoding: "utf8" });
  return new Set(listed.split("\n").filter(Boolean));
}

const packed: readonly Packed[] = [
  ...PUBLISHED.map((folder) => ({ folder, files: () => filesOfPackage(folder) })),
  ...publishedCrates().map(({ name, manifest_path }) => ({
    folder: relative(inRoot(), dirname(manifest_path)),
    files: () => filesOfCrate(name),
  })),
];

/** What is wrong with a link of a packed document, if anything is. */
function faultOf(
  folder: string,
  files: ReadonlySet<string>,
  document: string,
  url: string,
): string | undefined {
  if (/^[a-z][a-z\d+.-]*:/i.test(url)) return;
  const [path = "", anchor] = url.split("#");
  const target = path === "" ? document : normalize(join(dirname(document), decodeURI(path)));
  if (!files.has(target)) return "expected a file of the package, or an absolute link";
  if (anchor === undefined || !target.endsWith(".md")) return;
  const hasAnchor = anchorsOf(join(folder, target)).has(anchor);
  return hasAnchor ? undefined : `expected a heading #${anchor} in ${target}`;
}

describe.each(packed)("$folder", ({ folder, files }) => {
  test("packs documents whose links stay inside the package or are absolute", () => {
    const names = files();
    const documents = [...names].filter((name) => name.endsWith(".md"));
    expect(documents).toContain("README.md");
    const faults = documents.flatMap((document) =>
      linksOf(join(folder, document)).flatMap(({ url, line }) => {
        const fault = faultOf(folder, names, document, url);
        return fault === undefined ? [] : [`${join(folder, document)}:${line}: ${url}: ${fault}`];
      }),
    );
    expect(faults).toEqual([]);
  });
});

test("a link that leaves the package, or names a missing file or heading, is reported", () => {
  const files = new Set(["README.md", "LICENSE-MIT"]);
  const fault = (url: string) => faultOf(".", files, "README.md", url);
  for (const url of ["../../docs/cache.md", "docs/vhs.md", "/etc", "#none"]) {
    expect(fault(url), url).toBeDefined();
  }
  for (const url of ["LICENSE-MIT", "#develop", "https://a.example/docs", "mailto:a@b.example"]) {
    expect(fault(url), url).toBeUndefined();
  }
});
