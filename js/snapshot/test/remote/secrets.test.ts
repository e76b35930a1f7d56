/** What is secret, and told to nobody but the server that it is for. */
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createSnapshot } from "@hedgerow/snapshot";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Faults } from "../../../../tests/origin/fault.mjs";
import type { OriginOptions } from "../../../../tests/origin/origin.mjs";
import { type S3Server, startS3 } from "../../../../tests/support/s3/server.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise } from "../../../../tests/support/snapshots/image.js";
import { presignedGet } from "../../dist/s3/presign.js";
import type { Job } from "../support/job.js";
import { faultsOf, isPart, originOf, SOON } from "../support/remote.js";

const path = temporaryFolder();
const snapshot = path("image.vhs");

/** Names that nothing else has. */
const [USER, PASSWORD, QUERY, TOKEN] = ["u5er-9f31", "pa55 w/ord", "5ign4ture", "t0ken-77aa"];

const SECRETS = [
  ...[USER, PASSWORD, encodeURIComponent(PASSWORD), QUERY, TOKEN],
  Buffer.from(`${USER}:${PASSWORD}`).toString("base64"),
];

const OPTIONS = { workers: 2, connections: 3, partSize: 2 ** 18, retries: 1 };

beforeAll(async () => {
  writeFileSync(path("image"), noise("image", 3 * 2 ** 20));
  await createSnapshot(path("image"), snapshot, { pieceSize: 2 ** 16 });
});

/** All that a process says, and that it ends well with. */
async function said(job: Job): Promise<string> {
  const script = fileURLToPath(new URL("../support/print-all.mjs", import.meta.url));
  const { NODE_DEBUG: _, ...env } = process.env;
  const args = [script, JSON.stringify({ ...job, options: { ...OPTIONS, ...job.options } })];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, {
    ...{ env, timeout: 30_000, maxBuffer: 2 ** 24 },
  });
  return stdout + stderr;
}

/** Throws if something that was said has a secret in it, or does not have what it should. */
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

const ways: Record<string, [Omit<OriginOptions, "files"> & { faults?: Faults }, string[]]> = {
  "all is well": [{}, ["restored", "request", "progress"]],
  "it is slow": [{ conditions: { bytesPerSecond: 2e6 } }, ["restored", "request"]],
  "parts are cut": [{ faults: faultsOf(isPart, { cutAfter: 90_000 }) }, ["restored", "retry"]],
  "nothing is answered": [
    { faults: faultsOf(all, { noAnswer: true }) },
    ["ERR_SOURCE", "within 300 ms"],
  ],
  "parts are not answered": [
    { faults: faultsOf(isPart, { noAnswer: true }) },
    ["ERR_SOURCE", "retry", "within 300 ms"],
  ],
  "access is denied": [{ faults: faultsOf(all, { status: 403 }) }, ["ERR_SOURCE", "403"]],
  "access to parts is denied": [
    { faults: faultsOf(isPart, { status: 401 }) },
    ["ERR_SOURCE", "401"],
  ],
  "the server is busy": [
    { faults: faultsOf(isPart, { status: 503 }) },
    ["ERR_SOURCE", "503", "retry"],
  ],
  "it changed": [{ faults: faultsOf(isPart, { etag: '"2"' }) }, ["ERR_SOURCE_CHANGED"]],
  "it is damaged": [{ faults: faultsOf(isPart, { flipBit: 9 }) }, ["ERR_SNAPSHOT_FORMAT"]],
  "there are no ranges": [
    { faults: faultsOf(all, { ignoreRange: true }) },
    ["no-ranges", "warning"],
  ],
  "it leads nowhere": [{ faults: faultsOf(all, { status: 302 }) }, ["ERR_SOURCE", "302"]],
  "it leads to who refuses": [
    { faults: faultsOf(all, { location: `http://${REFUSED}/${QUERY}?${QUERY}` }) },
    ["ERR_SOURCE", "ECONNREFUSED"],
  ],
};

describe("the user, the query and the headers of a URL, when", () => {
  test.each(Object.entries(ways))("%s", async (_, [options, parts]) => {
    const origin = await originOf({ "/a.vhs": snapshot }, options);
    const url = origin.url(`/a.vhs?X-Amz-Signature=${QUERY}#${QUERY}`);
    [url.username, url.password] = [USER, PASSWORD];
    const headers = { "x-token": TOKEN, cookie: TOKEN };
    const job = { call: "restoreSnapshot", source: url.href, target: path("restored") } as const;
    // Where anything else is answered, nothing must be given up soon.
    const timeouts = parts.includes("within 300 ms") ? SOON : {};
    const text = await said({ ...job, options: { headers, timeouts } });
    expectNoSecret(text, SECRETS, ...parts);
    // They did reach the server.
    const basic = Buffer.from(`${USER}:${PASSWORD}`).toString("base64");
    expect(origin.requests[0]?.headers).toMatchObject({
      ...{ authorization: `Basic ${basic}`, "x-token": TOKEN, cookie: TOKEN },
    });
  });

  test("there is no such host", async () => {
    // Such a name is not looked up anywhere else, which might take its time.
    const source = `http://${USER}:${encodeURIComponent(PASSWORD)}@nobody..invalid/a?${QUERY}`;
    const text = await said({ call: "verifySnapshot", source, target: "" });
    expectNoSecret(text, SECRETS, "ERR_SOURCE", "nobody..invalid");
  });

  test("headers are none", async () => {
    const headers = { "x-token": `${TOKEN}\n` };
    const source = `http://${USER}@${REFUSED}/a?${QUERY}`;
    const text = await said({ call: "verifySnapshot", source, target: "", options: { headers } });
    expectNoSecret(text, SECRETS, "ERR_ARGUMENT", "headers");
  });

  test("it is sent there", async () => {
    const origin = await originOf({});
    const url = origin.url(`/new.vhs?${QUERY}`);
    [url.username, url.password] = [USER, PASSWORD];
    const job = { call: "createSnapshot", source: path("image"), target: url.href } as const;
    expectNoSecret(await said(job), SECRETS, "made");
    origin.faults = () => ({ status: 403 });
    expectNoSecret(await said(job), SECRETS, "ERR_TARGET");
  });
});

describe("the credentials of an object store, when", () => {
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

  test("all is well", async () => {
    const source = `s3://${server.bucket}/a.vhs`;
    const job = { call: "restoreSnapshot", source, target: path("restored") } as const;
    expectNoSecret(await said({ ...job, options: { s3 } }), secrets, "restored", "request", source);
    const made = { call: "createSnapshot", source: path("image"), target: source } as const;
    expectNoSecret(await said({ ...made, options: { s3 } }), secrets, "made");
  });

  test("there is no such object", async () => {
    const source = `s3://${server.bucket}/none.vhs`;
    const text = await said({ call: "verifySnapshot", source, target: "", options: { s3 } });
    expectNoSecret(text, secrets, "ERR_SOURCE", "404", source);
  });

  test("they are not those of the store", async () => {
    const credentials = { ...server.credentials, secretAccessKey: QUERY };
    const options = { s3: { ...s3, credentials } };
    const source = `s3://${server.bucket}/a.vhs`;
    const read = await said({ call: "verifySnapshot", source, target: "", options });
    expectNoSecret(read, [...secrets, QUERY], "ERR_SOURCE", "403", source);
    // More than one part: what is refused then has no body, which the store might not read to its end.
    writeFileSync(path("large"), noise("large", 6 * 2 ** 20));
    const job = { call: "createSnapshot", source: path("large"), target: source } as const;
    expectNoSecret(await said({ ...job, options }), [...secrets, QUERY], "ERR_TARGET", "403");
  });

  test("nobody is there", async () => {
    const options = { s3: { ...s3, endpoint: `http://${REFUSED}` } };
    const source = `s3://${server.bucket}/a.vhs`;
    const text = await said({ call: "verifySnapshot", source, target: "", options });
    expectNoSecret(text, secrets, "ERR_SOURCE", "ECONNREFUSED", source);
  });

  test("they are in a URL, which lasts for a while", async () => {
    const { url } = await presignedGet({ bucket: server.bucket, key: "a.vhs" }, s3);
    const job = { call: "restoreSnapshot", target: path("restored") } as const;
    expectNoSecret(await said({ ...job, source: url.href }), secrets, "restored", "request");
    url.searchParams.set("X-Amz-Expires", "1");
    expectNoSecret(await said({ ...job, source: url.href }), secrets, "ERR_SOURCE", "403");
  });
});
