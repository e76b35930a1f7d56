/** Builds that are kept between runs, because they take longer than the checks of what they built. */
import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

import { stampOf } from "../../../scripts/lib/stamp.mjs";
import { projectFolder, SUITE, WORK } from "./project.js";

/** Files that builds and installations create in the folder of a source. */
const GENERATED = new Set([".next", "node_modules", "next-env.d.ts", "paths.filter"]);

/** The digest of the lockfile and of the packed packages, which the set-up of the suite writes. */
const PACKAGES = join(SUITE, "node_modules", ".inputs");

/** The code that runs the builds. */
const SUPPORT = join(SUITE, "support");

/**
 * Copies a folder and builds it, unless a previous run did this with the same sources, packages and Node. Returns the
 * folder of the build. It resolves the packages of the suite.
 *
 * @param name unique among all builds
 * @param source the folder to copy
 * @param also anything else that the build depends on
 */
export async function keptBuild(
  name: string,
  source: string,
  also: unknown,
  build: (folder: string) => Promise<unknown>,
): Promise<string> {
  const folder = join(WORK, name);
  const files = readdirSync(source).filter((file) => !GENERATED.has(file));
  const inputs = [PACKAGES, SUPPORT, ...files.map((file) => join(source, file))];
  const versions = [process.version, process.platform, process.arch];
  const stamp = stampOf(folder, inputs, JSON.stringify([...versions, also]));
  if (stamp.isCurrent) return folder;
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  mkdirSync(folder, { recursive: true });
  for (const file of files) cpSync(join(source, file), join(folder, file), { recursive: true });
  await build(folder);
  stamp.write();
  return folder;
}

/** Builds a project of the suite, or takes the build of a previous run. Returns the folder of the build. */
export function keptProject(
  name: string,
  project: string,
  build: (folder: string) => Promise<unknown>,
): Promise<string> {
  return keptBuild(name, projectFolder(project), null, build);
}
