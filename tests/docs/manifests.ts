/** The direct dependencies in the manifests of the repository. */
import { readFileSync } from "node:fs";
import { dirname, relative } from "node:path";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { listFiles, output } from "../../scripts/lib/run.mjs";

/** A direct dependency. */
export interface Dependency {
  readonly name: string;
  /** The folder of the manifest, or `root`. */
  readonly place: string;
  /** Whether users of the published package or crate install it, or have to provide it. */
  readonly isPublished: boolean;
}

/** Returns the dependencies on crates from outside the repository. */
export function cargoDependencies(): Dependency[] {
  const workspaces = filesOf("Cargo.toml").filter((file) => /^\[workspace\]/m.test(read(file)));
  return workspaces.flatMap(packagesOf).flatMap(({ manifest_path, dependencies }) => {
    const place = relative(inRoot(), dirname(manifest_path));
    return dependencies
      .filter(({ path }) => path === undefined)
      .map(({ name, kind }) => ({ name, place, isPublished: isCrate(place) && kind === null }));
  });
}

/** Returns the folder of each crate in the main workspace, with those of the local crates that it depends on. */
export function cargoFolders(): Record<string, string[]> {
  const folder = (path: string) => relative(inRoot(), path);
  const crates = packagesOf("Cargo.toml").map(({ manifest_path, dependencies }) => {
    const needed = dependencies.filter(({ kind, path }) => kind === null && path !== undefined);
    return [folder(dirname(manifest_path)), needed.map(({ path = "" }) => folder(path)).sort()];
  });
  return Object.fromEntries(crates);
}

/** Returns the dependencies on npm packages from outside the repository. */
export function npmDependencies(): Dependency[] {
  const manifests = filesOf("package.json").map((file) => ({ file, ...JSON.parse(read(file)) }));
  const own = new Set(manifests.map(({ name }) => name));
  return manifests.flatMap(({ file, dependencies, devDependencies, ...others }) => {
    const { optionalDependencies, peerDependencies } = others;
    const place = dirname(file) === "." ? "root" : dirname(file);
    const all = {
      ...dependencies,
      ...devDependencies,
      ...optionalDependencies,
      ...peerDependencies,
    };
    return Object.entries<string>(all)
      .map(([name, version]) => /^npm:(.+)@/.exec(version)?.[1] ?? name)
      .filter((name) => !own.has(name))
      .map((name) => ({ name, place, isPublished: place.startsWith("js/") }));
  });
}

interface CargoPackage {
  readonly manifest_path: string;
  readonly dependencies: readonly {
    readonly name: string;
    readonly kind: "dev" | "build" | null;
    readonly path?: string;
  }[];
}

/** Returns the packages of a Cargo workspace. */
function packagesOf(workspace: string): CargoPackage[] {
  const args = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
  const printed = output("cargo", [...args, "--manifest-path", inRoot(workspace)]);
  return (JSON.parse(printed) as { packages: CargoPackage[] }).packages;
}

/** Whether a folder contains a crate that is published or compiled into a published package. */
function isCrate(place: string): boolean {
  return /^crates\/[^/]+$/.test(place);
}

/** Returns all files of the repository with this name. */
const filesOf = (name: string): string[] => [...listFiles(name), ...listFiles(`*/${name}`)];

function read(file: string): string {
  return readFileSync(inRoot(file), "utf8");
}
