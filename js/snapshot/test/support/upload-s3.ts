/** An S3 server to upload to. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { S3 } from "@aws-sdk/client-s3";
import type { CreateOptions } from "@hedgerow/snapshot";
import { afterAll, beforeAll } from "vitest";

import { type S3Server, startS3 } from "../../../../tests/support/s3/server.js";

/** The smallest part that S3 accepts, in bytes. */
export const PART = 5 * 2 ** 20;

export let s3: S3Server;

beforeAll(async () => {
  s3 = await startS3();
});
afterAll(() => s3.close());

/** Returns options to reach the server, or a proxy before it. One worker is cheaper than two. */
export function s3Options(options: CreateOptions = {}, endpoint: URL = s3.endpoint): CreateOptions {
  const { credentials, region } = s3;
  return {
    workers: 1,
    partSize: PART,
    ...options,
    s3: { endpoint, credentials, region, ...options.s3 },
  };
}

export const urlOf = (key: string) => `s3://${s3.bucket}/${key}`;

/** Returns the bytes of an object. */
export const objectOf = (key: string) => readFileSync(join(s3.folder, key));

/** Stores an object by the AWS SDK. */
export async function putObject(key: string, bytes: Uint8Array): Promise<void> {
  const { credentials, region, bucket, endpoint } = s3;
  const client = new S3({ credentials, region, endpoint: endpoint.href, forcePathStyle: true });
  await client.putObject({ Bucket: bucket, Key: key, Body: bytes });
  client.destroy();
}
