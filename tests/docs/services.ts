/** The object store that documents assume their reader has. */
import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";

import { startOrigin } from "../origin/origin.mjs";
import { closed, serve } from "../support/http/listen.js";
import { startS3 } from "../support/s3/server.js";
import type { Replacements } from "./replacements.js";

const BUCKET = "my-bucket";

/** An S3 server with a bucket, and an HTTP server for public reads of its objects. */
export interface Store {
  readonly env: Readonly<Record<string, string>>;
  readonly names: Replacements;
  close(): Promise<void>;
}

export const needsStore = (text: string): boolean => /s3:|objects\.example/.test(text);

export async function startStore(): Promise<Store> {
  const s3 = await startS3();
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
    },
    names: new Map([
      ["https://objects.example", objects.url.origin],
      ["https://s3.example", s3.endpoint.origin],
    ]),
    close: async () => {
      await objects.close();
      await s3.close();
    },
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
