/** Copies of objects that the service makes. */
import type { IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";

import { closed, serve } from "../../../../tests/support/http/listen.js";
import { transferOf } from "../../src/http/transfer.js";
import { copyWhole } from "../../src/s3/multipart-upload.js";
import { ObjectStore } from "../../src/s3/object-store.js";

/** Copies an object of 300 MB. Returns the headers of the requests that copy its ranges. */
async function copiesOf(etag: string | undefined): Promise<IncomingHttpHeaders[]> {
  const copies: IncomingHttpHeaders[] = [];
  const { server, url: endpoint } = await serve(async (asked, response) => {
    await buffer(asked);
    if (asked.method === "PUT") copies.push(asked.headers);
    const result = asked.method === "PUT" ? "<ETag>x</ETag>" : "<UploadId>1</UploadId>";
    response.end(`<R>${result}</R>`);
  });
  onTestFinished(() => closed(server));
  const credentials = { accessKeyId: "key", secretAccessKey: "secret" };
  const s3 = { endpoint, region: "eu-central-1", credentials };
  const transfer = transferOf({ retries: 0 });
  const store = await ObjectStore.open({ bucket: "b", key: "to" }, s3, transfer, undefined);
  onTestFinished(() => store.close());
  const plan = { partSize: 2 ** 23, connections: 1, overwrite: false, signal: undefined };
  const source = { location: { bucket: "b", key: "from" }, etag };
  await copyWhole(store, plan, source, 300_000_000);
  return copies;
}

test("copies every range of an object only if it has the expected ETag", async () => {
  const copies = await copiesOf('"e"');
  expect(copies.map((headers) => headers["x-amz-copy-source-range"])).toEqual([
    ...["bytes=0-134217727", "bytes=134217728-268435455", "bytes=268435456-299999999"],
  ]);
  for (const headers of copies) expect(headers["x-amz-copy-source-if-match"]).toBe('"e"');
});

test("copies an object that never changes without a condition", async () => {
  for (const headers of await copiesOf(undefined))
    expect(headers).not.toHaveProperty("x-amz-copy-source-if-match");
});
