/** Path filters, built by the command line and uploaded to an object store, as in a build step. */
import { readFile } from "node:fs/promises";

import { PathFilter } from "hedgerow";

import { hedgerow } from "../../../js/cli/test/support/bin.js";
import { presignedGet } from "../../../js/snapshot/dist/services/s3-presign.js";
import type { S3Server } from "../../support/s3/server.js";
import { type Deployment, keyOf } from "./site.js";

/** The share of absent paths that may pass. */
export const FALSE_POSITIVE_RATE = 1e-3;

/** Builds the filter of a folder, and returns its file. */
export async function buildFilter(folder: string, file: string): Promise<Buffer> {
  const rate = ["--false-positive-rate", `${FALSE_POSITIVE_RATE}`];
  const args = ["paths", "build", folder, "-o", file, ...rate];
  const { code, err } = await hedgerow([...args, "--source-kind", "directory"]);
  if (code !== 0) throw new Error(`hedgerow paths build exited with ${code}: ${err}`);
  return readFile(file);
}

/** Throws unless a filter has every path of a deployment. Requests would cover only some of them. */
export function expectAllIn(file: Buffer, { name, present }: Deployment): void {
  using filter = PathFilter.parse(file);
  for (const path of present) {
    if (!filter.has(keyOf(path))) throw new Error(`the filter of ${name} lacks ${path}`);
  }
}

/** Returns a presigned URL of an object, at an endpoint in front of the store. */
export async function filterUrl(server: S3Server, key: string, endpoint: URL): Promise<string> {
  const { region, credentials, bucket } = server;
  const location = { service: "s3", bucket, key } as const;
  const url = await presignedGet(location, { endpoint, region, credentials });
  return url.href;
}
