/** Uploads of snapshots to S3: the objects and their keys, and the credentials used. */
import { readFileSync, utimesSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { createSnapshot, DiskStore } from "@hedgerow/snapshot";
import { expect, test, vi } from "vitest";
import { expectSame } from "../../../../tests/support/snapshots/image.js";
import { type InjectFault, startProxy } from "../../../../tests/support/snapshots/proxy.js";
import { transferOf } from "../../dist/http/transfer.js";
import { planOf } from "../../dist/services/open-service.js";
import { S3Service } from "../../dist/services/s3.js";
import { presignedGet } from "../../dist/services/s3-presign.js";
import { textsIn } from "../support/error-texts.js";
import { refused } from "../support/quirks.js";
import { refusalOf } from "../support/refusal.js";
import { empty, expected, image, MIB, path, small } from "../support/upload.js";
import { objectOf, s3, s3Options, urlOf } from "../support/upload-s3.js";

test.each([
  ["in parts", image],
  ["in one piece", small],
  ["for an empty image", empty],
])("writes the same bytes to S3 as to a file, %s", async (name, source) => {
  const { duration, ...info } = await createSnapshot(source, urlOf(name), s3Options());
  const { duration: _, ...local } = await createSnapshot(source, path("local.vhs"));
  expect(info).toEqual(local);
  expect(duration).toBeGreaterThan(0);
  expectSame(objectOf(name), expected.get(source)!);
  expect(s3.multipartUploads()).toEqual([]);
});

test("replaces an object of S3 by default", async () => {
  await createSnapshot(image, urlOf("replaced"), s3Options());
  await createSnapshot(small, urlOf("replaced"), s3Options());
  expectSame(objectOf("replaced"), expected.get(small)!);
});

test.each(["a b/ä+%41?#&=", "folder/sub/x.vhs"])(
  "writes an object with the key %s",
  async (key) => {
    await createSnapshot(small, urlOf(key), s3Options());
    expectSame(objectOf(key), expected.get(small)!);
  },
);

test("uploads over one connection, and over many, without warnings", async () => {
  const warnings: string[] = [];
  const warn = ({ name }: Error) => void warnings.push(name);
  process.on("warning", warn);
  for (const connections of [1, 64]) {
    await createSnapshot(image, urlOf("connections"), s3Options({ connections }));
    expectSame(objectOf("connections"), expected.get(image)!);
  }
  await sleep(0);
  process.off("warning", warn);
  expect(warnings).not.toContain("MaxListenersExceededWarning");
});

test("keeps an existing object of S3 with overwrite: false", async () => {
  await createSnapshot(image, urlOf("kept"), s3Options({ overwrite: false }));
  const options = s3Options({ overwrite: false, onProgress: () => expect.fail("nothing is made") });
  const error = await refusalOf(createSnapshot(small, urlOf("kept"), options), "ERR_TARGET");
  expect(error.message).toBe(
    `${urlOf("kept")}: destination already exists; pass overwrite: true to replace it`,
  );
  expectSame(objectOf("kept"), expected.get(image)!);
});

test.each([
  ["parts", image],
  // The server refuses without reading the body. A client that is still sending can lose such a response.
  ["one piece", empty],
])("keeps an object of S3 that appears during an upload in %s", async (_, source) => {
  await createSnapshot(small, urlOf("meanwhile"), s3Options());
  const hide: InjectFault = ({ method }) => (method === "HEAD" ? { status: 404 } : undefined);
  await using proxy = await startProxy(s3.endpoint, hide);
  const options = s3Options({ overwrite: false }, proxy.endpoint);
  const error = await refusalOf(createSnapshot(source, urlOf("meanwhile"), options), "ERR_TARGET");
  expect(error).toMatchObject({
    status: 412,
    message: /destination already exists \(HTTP 412\)/,
  });
  expectSame(objectOf("meanwhile"), expected.get(small)!);
  expect(s3.multipartUploads()).toEqual([]);
});

test("writes no object of S3 if the image changes", async () => {
  const changing = path("changing");
  for (const bytes of [readFileSync(image), readFileSync(small)]) {
    writeFileSync(changing, bytes);
    // The first request is made after the image was opened, and is answered when it has changed.
    const change: InjectFault = ({ method }) => {
      if (method !== "HEAD") return undefined;
      utimesSync(changing, 1, 1);
      return { status: 404 };
    };
    await using proxy = await startProxy(s3.endpoint, change);
    const work = createSnapshot(
      changing,
      urlOf("changing"),
      s3Options({ overwrite: false }, proxy.endpoint),
    );
    await refusalOf(work, "ERR_IMAGE_CHANGED");
  }
  expect(s3.objects()).not.toContain("changing");
  expect(s3.multipartUploads()).toEqual([]);
});

test("presigns a URL that allows ranges, and signs only the host", async () => {
  await createSnapshot(image, urlOf("presigned"), s3Options());
  const location = { service: "s3", bucket: s3.bucket, key: "presigned" } as const;
  const signed = await presignedGet(location, s3Options().s3);
  expect(signed.searchParams.get("X-Amz-SignedHeaders")).toBe("host");
  expect(signed.searchParams.get("X-Amz-Expires")).toBe("604800");
  expect([...signed.searchParams.keys()].join()).not.toContain("checksum");
  const part = await fetch(signed, { headers: { range: "bytes=100-199" } });
  expect(part.status).toBe(206);
  const bytes = Buffer.from(await part.arrayBuffer());
  expectSame(bytes, expected.get(image)!.subarray(100, 200));
  const tag = part.headers.get("etag")!;
  for (const [match, status] of [
    [tag, 206],
    ['"other"', 412],
  ] as const) {
    const headers = { range: "bytes=1-2", "if-match": match };
    expect((await fetch(signed, { headers })).status).toBe(status);
  }
});

test("writes a snapshot to a presigned URL", async () => {
  const { S3Client, PutObjectCommand } = await import("@aws-sdk/client-s3");
  const { getSignedUrl } = await import("@aws-sdk/s3-request-presigner");
  const client = new S3Client({
    endpoint: s3.endpoint.href,
    region: s3.region,
    credentials: s3.credentials,
    forcePathStyle: true,
    requestChecksumCalculation: "WHEN_REQUIRED",
  });
  const command = new PutObjectCommand({ Bucket: s3.bucket, Key: "put" });
  const signed = await getSignedUrl(client, command);
  client.destroy();
  await createSnapshot(image, signed);
  expectSame(objectOf("put"), expected.get(image)!);
  const wrong = signed.replace("X-Amz-Signature=", "X-Amz-Signature=0");
  const error = await refusalOf(createSnapshot(image, wrong), "ERR_TARGET");
  expect(error.status).toBe(403);
  expect(textsIn(error)).not.toMatch(/X-Amz|[0-9a-f]{64}/i);
});

test("makes parts as large as 10,000 of them have to be", () => {
  const service = new S3Service("bucket", undefined, transferOf({}));
  const partSizeFor = (partSize: number, size: number) =>
    planOf(service, {}, { partSize, connections: undefined }, size).partSize;
  expect(partSizeFor(MIB, 1)).toBe(5 * MIB);
  expect(partSizeFor(8 * MIB, 10_000 * 8 * MIB)).toBe(8 * MIB);
  expect(partSizeFor(8 * MIB, 10_000 * 8 * MIB + 1)).toBe(8 * MIB + 1);
});

/** Throws if an error holds anything of the request. */
function expectNoSecrets(error: unknown): void {
  const told = textsIn(error);
  expect(told).not.toContain(s3.credentials.secretAccessKey);
  expect(told).not.toContain(s3.credentials.accessKeyId);
  expect(told).not.toMatch(/[0-9a-f]{64}|authorization|x-amz-(signature|credential|security)/i);
  expect(told).not.toContain("$metadata");
}

test("reports a missing bucket without secrets", async () => {
  for (const source of [image, small]) {
    const work = createSnapshot(source, "s3://nowhere/x", s3Options());
    const error = await refusalOf(work, "ERR_TARGET");
    expect(error.status).toBe(404);
    expect(error.message).toMatch(/^s3:\/\/nowhere\/x: bucket "nowhere" does not exist/);
    expectNoSecrets(error);
  }
});

test("reports a wrong key without secrets", async () => {
  const secretAccessKey = "not-the-secret-of-the-server";
  const credentials = { ...s3.credentials, secretAccessKey };
  for (const source of [image, small]) {
    const work = createSnapshot(source, urlOf("x"), s3Options({ s3: { credentials } }));
    const error = await refusalOf(work, "ERR_TARGET");
    expect(error.status).toBe(403);
    expect(error.message).toContain(`${urlOf("x")}: access denied (HTTP 403`);
    expectNoSecrets(error);
    expect(textsIn(error)).not.toContain(secretAccessKey);
  }
});

test("reports a wrong session token without secrets", async () => {
  const credentials = { ...s3.credentials, sessionToken: "session-of-nobody" };
  const work = createSnapshot(small, urlOf("x"), s3Options({ s3: { credentials } }));
  const error = await refusalOf(work, "ERR_TARGET");
  expectNoSecrets(error);
  expect(textsIn(error)).not.toContain("session-of-nobody");
});

test.each(["Code", "Message", "Other"])(
  "does not repeat secrets that a service sends back in its %s",
  async (name) => {
    const inject: InjectFault = ({ headers }) => {
      const repeated = `<${name}>${s3.credentials.secretAccessKey} ${headers.authorization}</${name}>`;
      const body = `<Error><Code>Denied</Code><Message>no</Message>${repeated}</Error>`;
      return { status: 400, body };
    };
    await using proxy = await startProxy(s3.endpoint, inject);
    for (const source of [image, small]) {
      const work = createSnapshot(source, urlOf("x"), s3Options({}, proxy.endpoint));
      expectNoSecrets(await refusalOf(work, "ERR_TARGET"));
    }
  },
);

const MALFORMED = "The authorization header is malformed; the region 'us-east-1' is wrong";

test.each([
  ["a header", "us-gov-west-1", refused(301, "PermanentRedirect")],
  [
    "the error",
    "eu-central-1",
    refused(400, "AuthorizationHeaderMalformed", "<Region>eu-central-1</Region>", MALFORMED),
  ],
])("names the region of the bucket, which is in %s", async (where, region, refusal) => {
  const headers = where === "a header" ? { "x-amz-bucket-region": region } : {};
  await using proxy = await startProxy(s3.endpoint, () => ({ ...refusal, headers }));
  const { endpoint } = proxy;
  const { code } = /<Code>(?<code>\w+)/.exec(refusal.body ?? "")?.groups ?? {};
  const options = s3Options({}, endpoint);
  for (const error of [
    await refusalOf(createSnapshot(small, urlOf("x"), options), "ERR_TARGET"),
    await refusalOf(DiskStore.open(urlOf("store"), { s3: options.s3 }), "ERR_STORE"),
  ]) {
    expect(error.message).toContain(`; the bucket is in region ${region}`);
    expect(error.message).toContain(code);
    expect(textsIn(error)).not.toContain("may hold secrets");
  }
});

test.each([
  [400, "InvalidArgument", "x-amz-checksum-crc32 is not supported"],
  [501, "NotImplemented", "A header you provided implies functionality that is not implemented"],
  [501, "", ""],
])("names the setting for a service that refuses checksums with %i", async (status, code, why) => {
  const inject: InjectFault = ({ headers }) =>
    headers["x-amz-sdk-checksum-algorithm"] === undefined
      ? undefined
      : refused(status, code, "", why);
  await using proxy = await startProxy(s3.endpoint, inject);
  const create = () => createSnapshot(small, urlOf("unchecked"), s3Options({}, proxy.endpoint));
  const { message } = await refusalOf(create(), "ERR_TARGET");
  const [, name, value] = /set (AWS_\w+)=(\w+)$/.exec(message) ?? [];
  vi.stubEnv(String(name), value);
  await create();
  vi.stubEnv(String(name), undefined);
  expectSame(objectOf("unchecked"), expected.get(small)!);
});

/** Hides all configuration from the SDK. */
function forgetEnvironment(): void {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith("AWS_")) vi.stubEnv(name, undefined);
  }
  vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
  vi.stubEnv("AWS_CONFIG_FILE", path("none"));
  vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", path("none"));
}

test("reports missing credentials and a missing region", async () => {
  forgetEnvironment();
  const { endpoint, region } = s3;
  const nobody = createSnapshot(small, urlOf("x"), { s3: { endpoint, region } });
  expect((await refusalOf(nobody, "ERR_ARGUMENT")).message).toContain("AWS_ACCESS_KEY_ID");
  const nowhere = createSnapshot(small, urlOf("x"), { s3: { credentials: s3.credentials } });
  expect((await refusalOf(nowhere, "ERR_ARGUMENT")).message).toContain("AWS_REGION");
});

test("finds the service and the credentials in the environment", async () => {
  forgetEnvironment();
  vi.stubEnv("AWS_ENDPOINT_URL_S3", s3.endpoint.href);
  vi.stubEnv("AWS_ACCESS_KEY_ID", s3.credentials.accessKeyId);
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", s3.credentials.secretAccessKey);
  vi.stubEnv("AWS_REGION", s3.region);
  await createSnapshot(small, urlOf("environment"));
  expectSame(objectOf("environment"), expected.get(small)!);
});
