/** What the commands of documents talk to: an object store, and an npm registry with the packages. */
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { basename, dirname, join } from "node:path";
import { inRoot } from "../../scripts/lib/paths.mjs";
import { PACKAGE_FOLDERS, tarballOf } from "../../scripts/lib/suites.mjs";
import { startOrigin } from "../origin/origin.mjs";
import { closed, serve } from "../support/http/listen.js";
import { startS3 } from "../support/s3/server.js";
import { azurite, fakeGcs } from "../support/services.js";
import { npmConfiguration } from "./environment.js";
import type { Replacements } from "./prepare-folder.js";

const BUCKET = "my-bucket";

/** An S3 server with a bucket, and an HTTP server for public reads of its objects. */
export interface Store {
  readonly env: Readonly<Record<string, string>>;
  readonly names: Replacements;
  close(): Promise<void>;
}

export const needsStore = (text: string): boolean => /s3:|objects\.example/.test(text);

/** Names in documents: an account of Azure and its container. */
const [ACCOUNT, CONTAINER] = ["myaccount", "mycontainer"];

/** Whether a document stores objects in Google Cloud Storage and Azure, too. */
const needsClouds = (text: string): boolean => /^npx .* (gs|az):/m.test(text);

export async function startStore(text: string): Promise<Store> {
  const s3 = await startS3();
  const clouds = needsClouds(text) ? await startClouds() : undefined;
  // Each folder is a bucket.
  const folder = join(dirname(s3.folder), BUCKET);
  mkdirSync(folder);
  const objects = await startObjects(folder);
  const { accessKeyId, secretAccessKey } = s3.credentials;
  return {
    env: {
      AWS_ENDPOINT_URL: s3.endpoint.href,
      AWS_REGION: s3.region,
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      STORE_KEY: accessKeyId,
      STORE_SECRET: secretAccessKey,
      ...clouds?.env,
    },
    names: new Map([
      ["https://objects.example", objects.url.origin],
      ["https://s3.example", s3.endpoint.origin],
    ]),
    close: async () => {
      await objects.close();
      await clouds?.close();
      await s3.close();
    },
  };
}

/** Starts the emulators of Google's and Azure's services. */
async function startClouds() {
  const [google, azure] = await Promise.all([fakeGcs(BUCKET), azurite(ACCOUNT, CONTAINER)]);
  const { endpoint, accountKey } = azure.options.azure ?? {};
  const parts = [`AccountName=${ACCOUNT}`, `AccountKey=${accountKey}`, `BlobEndpoint=${endpoint}`];
  return {
    env: {
      STORAGE_EMULATOR_HOST: String(google.options.gcs?.endpoint),
      AZURE_STORAGE_CONNECTION_STRING: parts.join(";"),
    },
    close: () => Promise.all([google.close(), azure.close()]),
  };
}

/** Serves the objects of a bucket: registers each file with the origin on request, and redirects there. */
async function startObjects(folder: string) {
  const origin = await startOrigin();
  const { server, url } = await serve((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://objects.example");
    const file = join(folder, pathname);
    if (existsSync(file)) origin.set(pathname, file);
    response.writeHead(307, { location: origin.url(pathname).href }).end();
  });
  const close = async () => {
    await closed(server);
    await origin.close();
  };
  return { url, close };
}

/** The first lockfile with a package decides its latest version. */
const LOCKFILES = ["tests/packaging/package-lock.json", "package-lock.json"];

/** A package's metadata in a registry. */
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
  // npm keeps what it has fetched from a URL, in a cache that earlier runs share, and a port comes again.
  const folder = `/${randomUUID()}/`;
  const { server, url: origin } = await serve((request, response) => {
    const name = decodeURIComponent(request.url ?? "").slice(folder.length);
    const tarball = tarballs.get(name);
    const packument = packages.get(name);
    if (tarball !== undefined) response.end(readFileSync(tarball));
    else if (packument !== undefined) sendJson(response, packument);
    else
      response.writeHead(307, { location: new URL(name.replace("/", "%2f"), upstream).href }).end();
  });
  const url = new URL(folder, origin);
  for (const [name, source] of Object.entries(PACKAGE_FOLDERS)) {
    const path = tarballOf(name);
    const file = `-/${basename(path)}`;
    tarballs.set(file, path);
    packages.set(name, ourPackage(source, path, new URL(file, url)));
  }
  return { url, close: () => closed(server) };
}

function sendJson(response: ServerResponse, value: object): void {
  response.setHeader("content-type", "application/json").end(JSON.stringify(value));
}

function ourPackage(folder: string, path: string, tarball: URL): Packument {
  const manifest = JSON.parse(readFileSync(inRoot(folder, "package.json"), "utf8"));
  // npm caches by integrity, so a repacked tarball of the same version is not confused with the old one.
  const integrity = `sha512-${createHash("sha512").update(readFileSync(path)).digest("base64")}`;
  const { name, version } = manifest;
  const dist = { tarball: tarball.href, integrity };
  return { name, "dist-tags": { latest: version }, versions: { [version]: { ...manifest, dist } } };
}

/** Returns the packages in the lockfiles, which contain all metadata that npm needs. */
function pinnedPackages(upstream: string): Map<string, Packument> {
  const packages = new Map<string, Packument>();
  for (const lockfile of LOCKFILES) {
    const lock = JSON.parse(readFileSync(inRoot(lockfile), "utf8"));
    // Top-level packages first: they have the shortest paths.
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
