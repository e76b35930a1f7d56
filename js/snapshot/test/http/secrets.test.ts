/** Secrets appear in no output, and reach only the server that they are for. */
import { writeFileSync } from "node:fs";
import { createSnapshot } from "@hedgerow/snapshot";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Faults } from "../../../../tests/origin/fault.mjs";
import type { OriginOptions } from "../../../../tests/origin/origin.mjs";
import { type S3Server, startS3 } from "../../../../tests/support/s3/server.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise } from "../../../../tests/support/snapshots/image.js";
import { presignedGet } from "../../dist/services/s3-presign.js";
import type { Job } from "../support/job.js";
import { sharedOutput } from "../support/print-all.js";
import { faultsOf, isPart, originOf, SOON } from "../support/remote.js";

const path = temporaryFolder();
const snapshot = path("image.vhs");

/** Secrets that no other text contains. */
const [USER, PASSWORD, QUERY, TOKEN] = ["u5er-9f31", "pa55 w/ord", "5ign4ture", "t0ken-77aa"];

const SECRETS = [
  ...[USER, PASSWORD, encodeURIComponent(PASSWORD), QUERY, TOKEN],
  Buffer.from(`${USER}:${PASSWORD}`).toString("base64"),
];

const OPTIONS = { workers: 1, connections: 3, partSize: 2 ** 18, retries: 1 };

beforeAll(async () => {
  writeFileSync(path("image"), noise("image", 3 * 2 ** 20));
  await createSnapshot(path("image"), snapshot, { pieceSize: 2 ** 16 });
});

const share = sharedOutput();

/** Returns all output of a job. */
const outputOf = (job: Job) => share({ ...job, options: { ...OPTIONS, ...job.options } });

/** Throws if output contains a secret, or lacks an expected part. */
function expectNoSecret(text: string, secrets: readonly string[], ...parts: readonly string[]) {
  for (const part of parts) expect(text).toContain(part);
  for (const secret of secrets) {
    const at = text.indexOf(secret);
    if (at >= 0)
      throw new Error(`found ${secret} in ${text.slice(Math.max(0, at - 200), at + 100)}`);
  }
}

const all = () => true;
const REFUSED = "127.0.0.1:1";

const cases: Record<string, [Omit<OriginOptions, "files"> & { faults?: Faults }, string[]]> = {
  "a restore succeeds": [{}, ["restored", "request", "progress"]],
  "the server is slow": [{ conditions: { bytesPerSecond: 2e6 } }, ["restored", "request"]],
  "connections are cut": [
    { faults: faultsOf(isPart, { cutAfter: 90_000 }) },
    ["restored", "retry"],
  ],
  "the server does not respond": [
    { faults: faultsOf(all, { noAnswer: true }) },
    ["ERR_SOURCE", "within 300 ms"],
  ],
  "the server stops responding": [
    { faults: faultsOf(isPart, { noAnswer: true }) },
    ["ERR_SOURCE", "retry", "within 300 ms"],
  ],
  "access is denied": [{ faults: faultsOf(all, { status: 403 }) }, ["ERR_SOURCE", "403"]],
  "access is denied after the tail": [
    { faults: faultsOf(isPart, { status: 401 }) },
    ["ERR_SOURCE", "401"],
  ],
  "the server is busy": [
    { faults: faultsOf(isPart, { status: 503 }) },
    ["ERR_SOURCE", "503", "retry"],
  ],
  "the object changed": [{ faults: faultsOf(isPart, { etag: '"2"' }) }, ["ERR_SOURCE_CHANGED"]],
  "the object is damaged": [{ faults: faultsOf(isPart, { flipBit: 9 }) }, ["ERR_SNAPSHOT_FORMAT"]],
  "the server does not support ranges": [
    { faults: faultsOf(all, { ignoreRange: true }) },
    ["no-ranges", "warning"],
  ],
  "a redirect has no location": [{ faults: faultsOf(all, { status: 302 }) }, ["ERR_SOURCE", "302"]],
  "a redirect leads to a server that refuses connections": [
    { faults: faultsOf(all, { location: `http://${REFUSED}/${QUERY}?${QUERY}` }) },
    ["ERR_SOURCE", "ECONNREFUSED"],
  ],
};

describe("secrets of URLs and headers", () => {
  test.each(Object.entries(cases))(
    "hides the secrets of a URL when %s",
    async (_, [options, parts]) => {
      const origin = await originOf({ "/a.vhs": snapshot }, options);
      const url = origin.url(`/a.vhs?X-Amz-Signature=${QUERY}#${QUERY}`);
      [url.username, url.password] = [USER, PASSWORD];
      const headers = { "x-token": TOKEN, cookie: TOKEN };
      const job = { call: "restoreSnapshot", source: url.href, target: path("restored") } as const;
      // Only servers that do not respond get short timeouts.
      const timeouts = parts.includes("within 300 ms") ? SOON : {};
      const text = await outputOf({ ...job, options: { headers, timeouts } });
      expectNoSecret(text, SECRETS, ...parts);
      // The server did receive them.
      const basic = Buffer.from(`${USER}:${PASSWORD}`).toString("base64");
      expect(origin.requests[0]?.headers).toMatchObject({
        ...{ authorization: `Basic ${basic}`, "x-token": TOKEN, cookie: TOKEN },
      });
    },
  );

  test("hides the secrets of a URL when the host does not exist", async () => {
    // An invalid name fails at once, without a query to a name server.
    const source = `http://${USER}:${encodeURIComponent(PASSWORD)}@nobody..invalid/a?${QUERY}`;
    const text = await outputOf({ call: "verifySnapshot", source, target: "" });
    expectNoSecret(text, SECRETS, "ERR_SOURCE", "nobody..invalid");
  });

  test("hides the value of a header that is not valid", async () => {
    const headers = { "x-token": `${TOKEN}\n` };
    const source = `http://${USER}@${REFUSED}/a?${QUERY}`;
    const text = await outputOf({
      call: "verifySnapshot",
      source,
      target: "",
      options: { headers },
    });
    expectNoSecret(text, SECRETS, "ERR_ARGUMENT", "headers");
  });

  test("hides the secrets of a URL during an upload", async () => {
    const origin = await originOf({});
    const url = origin.url(`/new.vhs?${QUERY}`);
    [url.username, url.password] = [USER, PASSWORD];
    const job = { call: "createSnapshot", source: path("image"), target: url.href } as const;
    expectNoSecret(await outputOf(job), SECRETS, "made");
    origin.faults = () => ({ status: 403 });
    expectNoSecret(await outputOf(job), SECRETS, "ERR_TARGET");
  });
});

describe("credentials of an object store", () => {
  let server: S3Server;
  let s3: NonNullable<NonNullable<Job["options"]>["s3"]>;
  let secrets: string[];

  beforeAll(async () => {
    server = await startS3();
    s3 = { endpoint: server.endpoint.href, region: server.region, credentials: server.credentials };
    secrets = [...Object.values(server.credentials), "X-Amz-Signature", "X-Amz-Credential"];
    await createSnapshot(path("image"), `s3://${server.bucket}/a.vhs`, { s3 });
  });
  afterAll(() => server.close());

  test("hides the credentials of S3 when everything succeeds", async () => {
    const source = `s3://${server.bucket}/a.vhs`;
    const job = { call: "restoreSnapshot", source, target: path("restored") } as const;
    expectNoSecret(
      await outputOf({ ...job, options: { s3 } }),
      secrets,
      "restored",
      "request",
      source,
    );
    const made = { call: "createSnapshot", source: path("image"), target: source } as const;
    expectNoSecret(await outputOf({ ...made, options: { s3 } }), secrets, "made");
  });

  test("hides the credentials of S3 when the object does not exist", async () => {
    const source = `s3://${server.bucket}/none.vhs`;
    const text = await outputOf({ call: "verifySnapshot", source, target: "", options: { s3 } });
    expectNoSecret(text, secrets, "ERR_SOURCE", "404", source);
  });

  test("hides the credentials of S3 when they are wrong", async () => {
    const credentials = { ...server.credentials, secretAccessKey: QUERY };
    const options = { s3: { ...s3, credentials } };
    const source = `s3://${server.bucket}/a.vhs`;
    const read = await outputOf({ call: "verifySnapshot", source, target: "", options });
    expectNoSecret(read, [...secrets, QUERY], "ERR_SOURCE", "403", source);
    // With several parts the refused request has no body, which the store might not read to its end.
    writeFileSync(path("large"), noise("large", 6 * 2 ** 20));
    const job = { call: "createSnapshot", source: path("large"), target: source } as const;
    expectNoSecret(await outputOf({ ...job, options }), [...secrets, QUERY], "ERR_TARGET", "403");
  });

  test("hides the credentials of S3 when the service refuses connections", async () => {
    const options = { s3: { ...s3, endpoint: `http://${REFUSED}` } };
    const source = `s3://${server.bucket}/a.vhs`;
    const text = await outputOf({ call: "verifySnapshot", source, target: "", options });
    expectNoSecret(text, secrets, "ERR_SOURCE", "ECONNREFUSED", source);
  });

  test("hides the signature of a presigned URL, valid or expired", async () => {
    const { bucket } = server;
    const url = await presignedGet({ service: "s3", bucket, key: "a.vhs" }, s3);
    const job = { call: "restoreSnapshot", target: path("restored") } as const;
    expectNoSecret(await outputOf({ ...job, source: url.href }), secrets, "restored", "request");
    url.searchParams.set("X-Amz-Expires", "1");
    expectNoSecret(await outputOf({ ...job, source: url.href }), secrets, "ERR_SOURCE", "403");
  });
});
