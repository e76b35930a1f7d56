/** Copies of objects that the service makes. */
import type { IncomingHttpHeaders } from "node:http";
import { buffer } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";

import { closed, serve } from "../../../../tests/support/http/listen.js";
import { transferOf } from "../../src/http/transfer.js";
import { S3Object } from "../../src/services/s3-object.js";
import { copyWhole } from "../../src/services/s3-upload.js";

/** Copies an object of 300 MB. Returns the headers of the requests that copy its ranges. */
async function copiesOf(etag: string): Promise<IncomingHttpHeaders[]> {
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
  const store = await S3Object.open(
    { service: "s3", bucket: "b", key: "to" },
    s3,
    transfer,
    undefined,
  );
  onTestFinished(() => store.close());
  const plan = {
    size: 300_000_000,
    partSize: 2 ** 23,
    connections: 1,
    overwrite: false,
    signal: undefined,
  };
  const source = { location: { service: "s3", bucket: "b", key: "from" }, etag } as const;
  await copyWhole(store, plan, source);
  return copies;
}

test("copies every range of an object only if it has the expected ETag", async () => {
  const copies = await copiesOf('"e"');
  expect(copies.map((headers) => headers["x-amz-copy-source-range"])).toEqual([
    ...["bytes=0-134217727", "bytes=134217728-268435455", "bytes=268435456-299999999"],
  ]);
  for (const headers of copies) expect(headers["x-amz-copy-source-if-match"]).toBe('"e"');
});
