/** Filters as a build step makes them: by the command line, and then put into an object store. */
import { readFile } from "node:fs/promises";

import { PathFilter } from "hedgerow";

import { hedgerow } from "../../../js/cli/test/support/bin.js";
import { presignedGet } from "../../../js/snapshot/dist/s3/presign.js";
import type { S3Server } from "../../support/s3/server.js";
import { type Deployment, keyOf } from "./site.js";

/** Of absent paths, so many may pass. */
export const FALSE_POSITIVE_RATE = 1e-3;

/** Makes the filter of a folder, and returns its file. */
export async function buildFilter(folder: string, file: string, version: string): Promise<Buffer> {
  const rate = ["--false-positive-rate", `${FALSE_POSITIVE_RATE}`];
  const args = ["paths", "build", folder, "-o", file, ...rate, "--filter-version", version];
  const { code, err } = await hedgerow([...args, "--kind", "directory"]);
  if (code !== 0) throw new Error(`hedgerow paths build: expected 0, found ${code}: ${err}`);
  return readFile(file);
}

/** Throws unless a filter has every path of a deployment: requests come only for some of them. */
export function expectAllIn(file: Buffer, { name, present }: Deployment): void {
  using filter = PathFilter.parse(file);
  for (const path of present) {
    if (!filter.has(keyOf(path))) throw new Error(`${name} has ${path}, and its filter has not`);
  }
}

/** The URL by which anyone can read an object, at an endpoint in front of the store. */
export async function filterUrl(server: S3Server, key: string, endpoint: URL): Promise<string> {
  const { region, credentials, bucket } = server;
  const { url } = await presignedGet({ bucket, key }, { endpoint, region, credentials });
  return url.href;
}
