/** Uploads to an S3 service that fails. */
import { createSnapshot } from "@hedgerow/snapshot";
import { expect, test } from "vitest";
import { makeCertificate } from "../../../../tests/origin/certificate.mjs";
import { startOrigin } from "../../../../tests/origin/origin.mjs";
import { expectSame } from "../../../../tests/support/snapshots/image.js";
import { type Spoil, startProxy } from "../../../../tests/support/snapshots/proxy.js";
import { refusalOf } from "../support/refusal.js";
import { expected, image, MAX_ABORT_TIME, small } from "../support/upload.js";
import { objectOf, s3, s3Options, urlOf } from "../support/upload-s3.js";

type Is = (asked: Parameters<Spoil>[0]) => boolean;

const part =
  (number: number): Is =>
  ({ url: asked = "" }) =>
    asked.includes(`partNumber=${number}&`);

const isCreate: Is = ({ url: asked = "" }) => asked.includes("?uploads");

const isComplete: Is = ({ method, url: asked = "" }) =>
  method === "POST" && asked.includes("uploadId=");

/** Spoils the first request of a kind. */
function once(is: Is, how: ReturnType<Spoil>): Spoil {
  let isDone = false;
  return (asked) => {
    if (isDone || !is(asked)) return undefined;
    isDone = true;
    return how;
  };
}

test.each([1, 2, 4])("leaves nothing in S3 if part %i fails permanently", async (number) => {
  const is = part(number);
  const spoil: Spoil = (asked) => (is(asked) ? { status: 403, body: "" } : undefined);
  await using proxy = await startProxy(s3.endpoint, spoil);
  const work = createSnapshot(image, urlOf("failed"), s3Options({}, proxy.endpoint));
  expect(await refusalOf(work, "ERR_TARGET")).toMatchObject({ status: 403 });
  expect(s3.multipartUploads()).toEqual([]);
  expect(s3.objects()).not.toContain("failed");
});

test.each([
  ["a part", part(2), { status: 503 }],
  ["a part, whose response is lost", part(2), { loseAnswer: true }],
  ["the request that creates the upload", isCreate, { status: 500 }],
  [
    "the request that completes the upload",
    isComplete,
    { status: 503, headers: { "retry-after": "1" } },
  ],
  [
    "the completion, whose failure is in the body of the response",
    isComplete,
    { status: 200, body: "<Error><Code>InternalError</Code><Message>x</Message></Error>" },
  ],
  ["the completion, whose response is lost", isComplete, { loseAnswer: true }],
] as const)("retries %s", async (_, is, how) => {
  for (const overwrite of [true, false]) {
    const key = `again ${_} ${overwrite}`.replaceAll(" ", "-");
    await using proxy = await startProxy(s3.endpoint, once(is, how));
    await createSnapshot(image, urlOf(key), s3Options({ overwrite }, proxy.endpoint));
    expectSame(objectOf(key), expected.get(image)!);
    expect(s3.multipartUploads()).toEqual([]);
  }
});

test("retries an upload in one request whose response is lost", async () => {
  for (const overwrite of [true, false]) {
    const lose = once(({ method }) => method === "PUT", { loseAnswer: true });
    await using proxy = await startProxy(s3.endpoint, lose);
    await createSnapshot(
      small,
      urlOf(`lost-${overwrite}`),
      s3Options({ overwrite }, proxy.endpoint),
    );
    expectSame(objectOf(`lost-${overwrite}`), expected.get(small)!);
  }
});

test("fails after the last retry", async () => {
  await using proxy = await startProxy(s3.endpoint, () => ({ status: 503 }));
  const work = createSnapshot(small, urlOf("busy"), s3Options({ retries: 1 }, proxy.endpoint));
  expect(await refusalOf(work, "ERR_TARGET")).toMatchObject({ status: 503 });
  expect(proxy.requests.length).toBe(2);
});

test("fails at once if S3 asks for a longer pause than is obeyed", async () => {
  const busy = { status: 503, headers: { "retry-after": "61" } };
  await using proxy = await startProxy(s3.endpoint, () => busy);
  const work = createSnapshot(small, urlOf("busy"), s3Options({}, proxy.endpoint));
  expect(await refusalOf(work, "ERR_TARGET")).toMatchObject({ status: 503 });
  expect(proxy.requests.length).toBe(1);
});

test("gives up a service that does not respond", async () => {
  const forever = { delay: new Promise(() => {}) };
  await using proxy = await startProxy(s3.endpoint, () => forever);
  const timeouts = { firstByte: 100, stall: 100 };
  const work = createSnapshot(
    small,
    urlOf("x"),
    s3Options({ retries: 0, timeouts }, proxy.endpoint),
  );
  expect((await refusalOf(work, "ERR_TARGET")).message).toContain("timed out");
});

test("reports a service that cannot be reached", async () => {
  const endpoint = new URL("http://127.0.0.1:1");
  const error = await refusalOf(
    createSnapshot(small, urlOf("x"), s3Options({ retries: 1 }, endpoint)),
    "ERR_TARGET",
  );
  expect(error.message).toContain(`${urlOf("x")}: `);
  expect(error.message).toContain("ECONNREFUSED");
  expect(error.cause).toMatchObject({ code: "ECONNREFUSED" });
});

test("does not retry a service whose certificate is not trusted", async () => {
  const origin = await startOrigin({ tls: makeCertificate() });
  const start = performance.now();
  const work = createSnapshot(small, urlOf("x"), s3Options({ retries: 50 }, origin.url()));
  expect((await refusalOf(work, "ERR_TARGET")).message).toContain("TLS failed");
  expect(performance.now() - start).toBeLessThan(MAX_ABORT_TIME);
  await origin.close();
});
