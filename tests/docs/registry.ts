/**
 * A registry of npm packages on loopback, for documents that say `npm install hedgerow`. It has the packages
 * of this repository as they are packed, and the versions of others that the suites pin, so that a document
 * runs with the same ones each time. For all else it leads to the registry that npm is configured with.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { basename } from "node:path";

import { inRoot } from "../../scripts/lib/paths.mjs";
import { closed, serve } from "../support/http/listen.js";
import { npmConfiguration } from "./npm.js";

/** The first one that has a package says which version is the latest. */
const LOCKFILES = ["tests/packaging/package-lock.json", "package-lock.json"];

/** Our packages: where they are, and where the suites pack them. */
export const OURS = {
  hedgerow: "js/edge",
  "@hedgerow/snapshot": "js/snapshot",
  "@hedgerow/cli": "js/cli",
};

/** A package, as a registry describes it. */
interface Packument {
  readonly name: string;
  readonly "dist-tags": { readonly latest: string };
  readonly versions: Record<string, object>;
}

export interface Registry {
  readonly url: URL;
  close(): Promise<void>;
}

export async function startRegistry(): Promise<Registry> {
  const upstream = npmConfiguration().registry.replace(/\/?$/, "/");
  const packages = pinnedPackages(upstream);
  const tarballs = new Map<string, string>();
  const { server, url } = await serve((request, response) => {
    const name = decodeURIComponent(request.url ?? "").slice(1);
    const tarball = tarballs.get(name);
    const packument = packages.get(name);
    if (tarball !== undefined) response.end(readFileSync(tarball));
    else if (packument !== undefined) sendJson(response, packument);
    else
      response.writeHead(307, { location: new URL(name.replace("/", "%2f"), upstream).href }).end();
  });
  for (const [name, folder] of Object.entries(OURS)) {
    const path = packed(name);
    const file = `-/${basename(path)}`;
    tarballs.set(file, path);
    packages.set(name, ourPackage(folder, path, new URL(file, url)));
  }
  return { url, close: () => closed(server) };
}

function sendJson(response: ServerResponse, value: object): void {
  response.setHeader("content-type", "application/json").end(JSON.stringify(value));
}

/** Where the suites have packed a package. */
export function packed(name: string): string {
  const folder = inRoot("target", "packed", name.replace("/", "-"));
  const [file] = readdirSync(folder);
  if (file === undefined)
    throw new Error(`expected ${name} in ${folder}, which scripts/test.mjs packs`);
  return `${folder}/${file}`;
}

function ourPackage(folder: string, path: string, tarball: URL): Packument {
  const manifest = JSON.parse(readFileSync(inRoot(folder, "package.json"), "utf8"));
  // npm's cache knows files by this: a tarball of the same version that was packed anew is another one.
  const integrity = `sha512-${createHash("sha512").update(readFileSync(path)).digest("base64")}`;
  const { name, version } = manifest;
  const dist = { tarball: tarball.href, integrity };
  return { name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist } } };
}

/** What the lockfiles name. These have all that npm asks about a version. */
function pinnedPackages(upstream: string): Map<string, Packument> {
  const packages = new Map<string, Packument>();
  for (const lockfile of LOCKFILES) {
    const lock = JSON.parse(readFileSync(inRoot(lockfile), "utf8"));
    // What lies at the top comes first, as its path is the shortest.
    const places = Object.keys(lock.packages).sort((a, b) => a.length - b.length);
    for (const place of places) {
      const { link, name: alias, resolved, dev, optional, ...entry } = lock.packages[place];
      const name = /(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)$/.exec(place)?.[1];
      if (name === undefined || link || alias) continue;
      const tarball = `${upstream}${name}/-/${basename(name)}-${entry.version}.tgz`;
      const { integrity, version } = entry;
      const packument: Packument = packages.get(name) ?? {
        name,
        "dist-tags": { latest: version },
        versions: {},
      };
      packument.versions[version] ??= { name, ...entry, dist: { tarball, integrity } };
      packages.set(name, packument);
    }
  }
  return packages;
}
