/** Uploads with `overwrite: false` to servers that ignore conditions. */
import { readFileSync, writeFileSync } from "node:fs";
import { PutObjectCommand, S3 } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { createSnapshot, flattenSnapshot } from "@hedgerow/snapshot";
import { expect, test } from "vitest";

import { expectSame } from "../../../../tests/support/snapshots/image.js";
import { startProxy } from "../../../../tests/support/snapshots/proxy.js";
import { startDav } from "../support/dav.js";
import { refusalOf } from "../support/refusal.js";
import { empty, expected, path, small, temporaryFiles } from "../support/upload.js";
import { s3 } from "../support/upload-s3.js";

const ONCE = { overwrite: false, workers: 1 };

test.each(["nginx", "rclone"] as const)(
  "keeps a snapshot on a WebDAV server: %s",
  async (program) => {
    const url = new URL("/a.vhs", await startDav(program, path(program)));
    const stored = () => readFileSync(path(program, "files", "a.vhs"));
    await createSnapshot(small, url, ONCE);
    expectSame(stored(), expected.get(small)!);
    writeFileSync(path("empty.vhs"), expected.get(empty)!);
    for (const work of [
      () => createSnapshot(empty, url, ONCE),
      () => flattenSnapshot(path("empty.vhs"), url, ONCE),
    ]) {
      const { message } = await refusalOf(work(), "ERR_TARGET");
      expect(message).toBe(
        `${url}: destination already exists; pass overwrite: true to replace it`,
      );
    }
    expectSame(stored(), expected.get(small)!);
    await createSnapshot(empty, url);
    expectSame(stored(), expected.get(empty)!);
  },
);

test("reports a snapshot that was stored at the same time on a WebDAV server", async () => {
  const server = await startDav("nginx", path("race"));
  const replace = (body: Buffer) => {
    writeFileSync(path("race", "files", "a.vhs"), expected.get(empty)!);
    return body;
  };
  await using proxy = await startProxy(server, ({ method }) =>
    method === "PUT" ? { change: replace } : undefined,
  );
  const work = createSnapshot(small, new URL("/a.vhs", proxy.endpoint), ONCE);
  expect((await refusalOf(work, "ERR_TARGET")).message).toContain("another snapshot was stored");
  expect(temporaryFiles()).toEqual([]);
});

test.each([429, 503])(
  "does not upload with overwrite: false to a service that answers %i when asked for the object",
  async (status) => {
    await using proxy = await startProxy(s3.endpoint, ({ method }) =>
      method === "HEAD" || method === "GET" ? { status } : undefined,
    );
    const { credentials, region, bucket } = s3;
    const options = { ...ONCE, retries: 0, s3: { credentials, region, endpoint: proxy.endpoint } };
    for (const url of [`s3://${bucket}/unsure`, new URL("/unsure", proxy.endpoint)]) {
      const work = createSnapshot(small, url, options);
      expect(await refusalOf(work, "ERR_TARGET")).toMatchObject({ status });
    }
    expect(proxy.requests).toHaveLength(2);
  },
);

test("refuses a presigned PUT with overwrite: false, since it cannot be read", async () => {
  const { credentials, region, bucket, endpoint } = s3;
  const client = new S3({ credentials, region, endpoint: endpoint.href, forcePathStyle: true });
  const object = { Bucket: bucket, Key: "presigned" };
  const url = await getSignedUrl(client, new PutObjectCommand(object));
  const { message } = await refusalOf(createSnapshot(small, new URL(url), ONCE), "ERR_ARGUMENT");
  expect(message).toContain("overwrite: expected a URL that can also be read");
  expect(message).not.toContain("X-Amz");
  expect(s3.objects()).toEqual([]);
  await createSnapshot(small, new URL(url));
  expect(s3.objects()).toEqual(["presigned"]);
  client.destroy();
});
