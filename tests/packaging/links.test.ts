/** Documents inside packages: registries show them without the repository around them. */
import { execFileSync } from "node:child_process";
import { dirname, join, normalize, relative } from "node:path";
import { describe, expect, test } from "vitest";

import { PUBLISHED } from "../../scripts/audit/lockfiles.mjs";
import { publishedCrates } from "../../scripts/lib/crates.mjs";
import { inRoot, root } from "../../scripts/lib/paths.mjs";
import { anchorsOf, linksOf } from "../docs/links.js";

/** A package or a crate, and the files in it, relative to its folder. */
interface Packed {
  readonly folder: string;
  readonly files: () => ReadonlySet<string>;
}

const output = (command: string, args: string[]) =>
  execFileSync(command, args, { cwd: root, encoding: "utf8", maxBuffer: 2 ** 26 });

function filesOfPackage(folder: string): Set<string> {
  const args = ["pack", "--dry-run", "--json", "--ignore-scripts", `--workspace=${folder}`];
  const [{ files }] = JSON.parse(output("npm", args)) as [{ files: { path: string }[] }];
  return new Set(files.map(({ path }) => path));
}

function filesOfCrate(name: string): Set<string> {
  const args = ["package", "--list", "--quiet", "--allow-dirty", "--offline", "--package", name];
  return new Set(output("cargo", args).split("\n").filter(Boolean));
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
