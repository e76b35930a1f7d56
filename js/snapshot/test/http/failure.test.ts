/** Every status from 400 to 599, as the response to each request that is sent to S3 or to another server. */

import { inspectSnapshot, type SnapshotError } from "@hedgerow/snapshot";
import { SnapshotReader } from "@hedgerow/snapshot/reader";
import { afterAll, beforeAll, expect, test } from "vitest";
import { trials } from "../../../../tests/support/trials.js";
import { downloadInto } from "../../dist/http/get.js";
import { put } from "../../dist/http/put.js";
import { RemoteObject } from "../../dist/http/remote-object.js";
import { requestTo } from "../../dist/http/request.js";
import { transferOf } from "../../dist/http/transfer.js";
import { openTemporaryFile } from "../../dist/local/private-file.js";
import { checkAbsentAt } from "../../dist/location/stored-snapshot.js";
import { S3Object } from "../../dist/services/s3-object.js";
import { copyWhole, uploadWhole } from "../../dist/services/s3-upload.js";
import { BucketObjects } from "../../dist/store/bucket-objects.js";
import { textsIn } from "../support/error-texts.js";
import {
  type Is,
  is,
  isCopied,
  isPart,
  refuse,
  requests,
  SECRET,
  uploads,
  url,
} from "../support/status-server.js";

/** `npm test` tries those that have a meaning, and some of the others. */
const STEP = trials({ few: 16, all: 1 });
const STATUSES = Array.from({ length: 200 }, (_, at) => 400 + at).filter(
  (status) => status % 100 < 32 || status % STEP === 0,
);

/** The statuses that every request is sent again after, and those of a gateway among them. */
const GATEWAY = [502, 504, 520, 521, 522, 523, 524];
const RETRIED = [408, 429, 500, 503, ...GATEWAY];

const BUCKET = { service: "s3", bucket: "bucket" } as const;

let store: S3Object;
let s3: NonNullable<Parameters<typeof S3Object.open>[1]>;
const transfer = transferOf({ retries: 1 });

beforeAll(async () => {
  const credentials = { accessKeyId: "some-key", secretAccessKey: SECRET };
  s3 = { endpoint: url, region: "eu-central-1", credentials };
  store = await S3Object.open({ ...BUCKET, key: "a" }, s3, transfer, undefined);
});
afterAll(() => store.close());

const requestFor = (status: number, condition = {}) => {
  const target = new URL(`status-${status}?token=${SECRET}`, url);
  target.username = target.password = SECRET;
  return requestTo(target, {}, condition);
};
const at = (status: number) => store.at({ ...BUCKET, key: `status-${status}` });
const bytes = Buffer.from("bytes");
const plan = (overwrite: boolean, partSize = 2 ** 23) => {
  return { size: bytes.length, partSize, connections: 1, overwrite, signal: undefined };
};
const whole = (overwrite: boolean, partSize?: number) => (status: number) =>
  uploadWhole(at(status), plan(overwrite, partSize), (write) =>
    write(
      (async function* () {
        yield bytes;
      })(),
    ),
  );
const parts = (overwrite: boolean) => whole(overwrite, bytes.length - 1);
const source = { location: { ...BUCKET, key: "source" }, etag: '"e"' };
const copy = (status: number) => copyWhole(at(status), plan(true), source);

const inStore = (use: (objects: BucketObjects) => Promise<unknown>) => async (status: number) => {
  const place = { ...BUCKET, key: `status-${status}` };
  const objects = await BucketObjects.open(place, { s3, retries: 1 });
  return use(objects).finally(() => objects.close());
};

const putTo = (condition: object) => async (status: number) => {
  const { handle } = await openTemporaryFile();
  await handle.writeFile(bytes);
  const body = { handle, size: bytes.length };
  await put(requestFor(status, condition), body, transfer, undefined).finally(() => handle.close());
};

async function readRange(status: number): Promise<unknown> {
  const request = requestFor(status);
  const name = `status-${status}`;
  const how = { name, url: "", locate: async () => request, transfer, signal: undefined };
  const object = await RemoteObject.open(request, { ...how, prefixLength: 0 });
  return object?.read(0, 1).finally(() => object.close());
}

const urlOf = (status: number) => requestFor(status).url;

/** How many requests of a kind are sent, and their outcome, for statuses that differ from the others. */
type Differences = (status: number) => string | undefined;

const when =
  (outcomes: Record<number, string>, also: readonly number[] = [], outcome?: string): Differences =>
  (status) =>
    outcomes[status] ?? (also.includes(status) ? outcome : undefined);

/** The requests, what sends them, the code of its errors, and differences. */
type Call = readonly [Is, (status: number) => Promise<unknown>, string, Differences?];

const CALLS: Record<string, Call> = {
  "S3 PutObject": [is("PUT"), whole(true), "ERR_TARGET"],
  "S3 PutObject with If-None-Match": [is("PUT"), whole(false), "ERR_TARGET"],
  "S3 CreateMultipartUpload": [is("POST", /uploads/), parts(true), "ERR_TARGET"],
  "S3 UploadPart": [isPart, parts(true), "ERR_TARGET"],
  "S3 UploadPartCopy": [isCopied, copy, "ERR_TARGET", when({ 412: "1 × ERR_SOURCE_CHANGED" })],
  "S3 CompleteMultipartUpload": [is("POST", /uploadId/), parts(true), "ERR_TARGET"],
  "S3 CompleteMultipartUpload with If-None-Match": [
    is("POST", /uploadId/),
    parts(false),
    "ERR_TARGET",
  ],
  "S3 AbortMultipartUpload": [
    is("DELETE", /uploadId/),
    inStore((objects) => objects.removeLeftovers(0, false)),
    "ERR_STORE",
    when({ 404: "1 × 1" }),
  ],
  "S3 ListMultipartUploads": [
    is("GET", /uploads/),
    inStore((objects) => objects.removeLeftovers(0, false)),
    "ERR_STORE",
  ],
  "S3 ListObjectsV2": [
    is("GET", /list-type/),
    inStore((objects) => objects.list("a").next()),
    "ERR_STORE",
  ],
  "S3 HeadObject": [
    is("HEAD"),
    inStore((objects) => objects.size("a")),
    "ERR_STORE",
    when({ 404: "1 × undefined" }),
  ],
  "S3 GetObject": [
    is("GET"),
    inStore((objects) => objects.read("a", 9)),
    "ERR_STORE",
    when({ 404: "1 × undefined" }),
  ],
  "S3 PutObject of a store with If-None-Match": [
    is("PUT"),
    inStore((objects) => objects.write("a", bytes, undefined)),
    "ERR_STORE",
    // It looks, finds nothing, and writes again.
    when({ 404: "3 × ERR_STORE", 409: "6 × ERR_STORE", 412: "3 × ERR_STORE" }),
  ],
  "S3 PutObject of a store with If-Match": [
    is("PUT"),
    inStore((objects) => objects.write("a", bytes, '"e"')),
    "ERR_STORE",
    when({ 404: "1 × {}", 409: "2 × {}", 412: "1 × {}" }),
  ],
  "S3 DeleteObject": [
    is("DELETE"),
    // An hour: a slow machine must not end the call first.
    inStore((objects) => objects.delete("a", 3_600_000)),
    "ERR_STORE",
    // The service may still carry it out.
    when({ 404: "1 × true" }, GATEWAY, "1 × false"),
  ],
  "a GET of a presigned URL": [
    is("GET", /X-Amz-Signature/),
    (status) => inspectSnapshot(`s3://bucket/status-${status}`, { s3, retries: 1 }),
    "ERR_SOURCE",
    // A range from the start instead of one from the end, and the time of the service.
    when({
      ...{ 400: "3 × ERR_SOURCE", 401: "2 × ERR_SOURCE", 403: "2 × ERR_SOURCE" },
      ...{ 409: "1 × ERR_SOURCE", 416: "3 × ERR_SOURCE", 501: "2 × ERR_SOURCE" },
    }),
  ],
  "a GET of the end": [
    is("GET"),
    (status) => inspectSnapshot(urlOf(status), { retries: 1 }),
    "ERR_SOURCE",
    when({ 400: "2 × ERR_SOURCE", 416: "3 × ERR_SOURCE", 501: "2 × ERR_SOURCE" }),
  ],
  "a GET of a range": [
    ({ headers }) => headers.range === "bytes=0-0",
    readRange,
    "ERR_SOURCE",
    when({ 412: "1 × ERR_SOURCE_CHANGED" }),
  ],
  "a GET of the whole": [
    is("GET"),
    async (status) => {
      const file = await openTemporaryFile();
      const request = requestFor(status);
      const downloading = downloadInto(file, request, `status-${status}`, transfer, undefined);
      await downloading.finally(() => file.handle.close());
    },
    "ERR_SOURCE",
  ],
  "a GET before a PUT with If-None-Match": [
    is("GET"),
    (status) => checkAbsentAt(urlOf(status), { retries: 1 }),
    "ERR_TARGET",
    (status) => {
      if (status === 404 || status === 410) return "1 × undefined";
      if (status === 416) return "1 × ERR_TARGET without its status";
      return status > 499 || [407, ...RETRIED].includes(status) ? undefined : "1 × ERR_ARGUMENT";
    },
  ],
  "a PUT": [is("PUT"), putTo({}), "ERR_TARGET"],
  "a PUT with If-None-Match": [is("PUT"), putTo({ "if-none-match": "*" }), "ERR_TARGET"],
  "a GET of the reader for browsers": [
    is("GET"),
    (status) => SnapshotReader.open(urlOf(status)),
    "ERR_SOURCE",
    // `fetch` repeats one, and hides another.
    when(
      { 407: "1 × ERR_SOURCE without its status", 421: "2 × ERR_SOURCE" },
      RETRIED,
      "7 × ERR_SOURCE",
    ),
  ],
};

/** Returns how an error falls short of a helpful one, or an empty string. */
function problemOf(error: unknown, status: number): string {
  if (!(error instanceof Error)) return "";
  if (error.name !== "SnapshotError") return ` as ${error}`;
  if (textsIn(error).includes(SECRET)) return " with a secret";
  if (/@aws-sdk|UnknownError|\$response/.test(error.message)) return " in words of the SDK";
  if (!/(status-\d+|source)\b.*: ./.test(error.message)) return " without a name";
  const isNamed = new RegExp(`(HTTP|found) ${status}\\b`).test(error.message);
  return isNamed && (error as SnapshotError).status === status ? "" : " without its status";
}

test.each(Object.entries(CALLS))(
  "reports each status of %s, and retries the transient ones",
  async (name, call) => {
    const [refused, act, code, differenceOf] = call;
    refuse(refused);
    const retried = name.startsWith("S3") ? [409, ...RETRIED] : RETRIED;
    const expected = STATUSES.map((status) => {
      const usual = `${retried.includes(status) ? 2 : 1} × ${code}`;
      return `${status}: ${differenceOf?.(status) ?? usual}`;
    });
    const outcomes = STATUSES.map(async (status) => {
      const outcome = await act(status).catch((error: unknown) => error);
      const text =
        outcome instanceof Error ? Reflect.get(outcome, "code") : JSON.stringify(outcome);
      // Only with a condition would another option help.
      if (!name.endsWith("If-None-Match")) expect(String(outcome)).not.toContain("overwrite");
      return `${status}: ${requests.get(status)} × ${text}${problemOf(outcome, status)}`;
    });
    expect(await Promise.all(outcomes)).toEqual(expected);
    expect(uploads, "incomplete uploads").toEqual(new Set());
  },
);
