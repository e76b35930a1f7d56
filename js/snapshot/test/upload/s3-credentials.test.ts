/** Credentials of S3: where they are found, and that errors do not repeat them. */
import { createSnapshot } from "@hedgerow/snapshot";
import { expect, test, vi } from "vitest";
import { expectSame } from "../../../../tests/support/snapshots/image.js";
import { type Spoil, startProxy } from "../../../../tests/support/snapshots/proxy.js";
import { textsIn } from "../support/error-texts.js";
import { refusalOf } from "../support/refusal.js";
import { expected, image, path, small } from "../support/upload.js";
import { objectOf, s3, s3Options, urlOf } from "../support/upload-s3.js";

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
    const spoil: Spoil = ({ headers }) => {
      const repeated = `<${name}>${s3.credentials.secretAccessKey} ${headers.authorization}</${name}>`;
      const body = `<Error><Code>Denied</Code><Message>no</Message>${repeated}</Error>`;
      return { status: 400, body };
    };
    await using proxy = await startProxy(s3.endpoint, spoil);
    for (const source of [image, small]) {
      const work = createSnapshot(source, urlOf("x"), s3Options({}, proxy.endpoint));
      expectNoSecrets(await refusalOf(work, "ERR_TARGET"));
    }
  },
);

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
