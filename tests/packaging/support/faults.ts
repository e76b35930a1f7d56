/** What could be wrong with a package, done to a copy of it. */
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Fault } from "./project.js";

/** Where each condition leads to. */
type Targets = Record<string, string | undefined>;

interface Manifest {
  readonly imports: Record<string, Targets>;
  readonly exports: Record<string, Targets | string>;
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
}

/** The tarball lacks a file. */
export const without =
  (path: string): Fault =>
  (folder) =>
    rmSync(join(folder, path));

/** The main entry waits at its top level. */
export const waiting: Fault = (folder) => {
  const entry = manifestOf(folder).exports["."];
  const file = typeof entry === "object" ? entry.default : entry;
  appendFileSync(join(folder, file ?? ""), "\nawait undefined;\n");
};

/** A condition leads to where another one does. */
export const mistaken =
  (condition: string, other: string): Fault =>
  (folder) => {
    const manifest = manifestOf(folder);
    const all = [...Object.values(manifest.imports), ...Object.values(manifest.exports)];
    const both = all.filter(
      (targets): targets is Targets =>
        typeof targets === "object" && condition in targets && other in targets,
    );
    if (both.length === 0) throw new Error(`expected ${condition} and ${other} somewhere`);
    for (const targets of both) targets[condition] = targets[other];
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest));
  };
