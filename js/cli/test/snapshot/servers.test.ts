/** Snapshots on servers: an object store and a faulty HTTP server. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { type OriginOptions, startOrigin } from "../../../../tests/origin/origin.mjs";
import { type S3Server, startS3 } from "../../../../tests/support/s3/server.js";
import { manifestOf, missingBytes } from "../../../snapshot/test/support/resume-state.js";
import { ended, hedgerow, hedgerowProcess, start, startInTerminal } from "../support/bin.js";
import { type Info, SMALL } from "../support/images.js";
import { makeTree } from "../support/tree.js";

/** A query of a presigned URL and a user, which must never be printed. */
const SECRET = "X-Amz-Signature=5ec2e7";
const USER = "user:5ec2e7";

let s3: S3Server;
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  s3 = await startS3();
  env = {
    AWS_ACCESS_KEY_ID: s3.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.credentials.secretAccessKey,
    AWS_REGION: s3.region,
    AWS_ENDPOINT_URL_S3: s3.endpoint.href,
  };
});
afterAll(() => s3?.close());

const snapshot = (...args: string[]) => hedgerow(["snapshot", ...args], "", env);
const snapshotProcess = (...args: string[]) => hedgerowProcess(["snapshot", ...args], "", env);

/** Runs a command that must succeed and returns its output. */
async function json(...args: string[]): Promise<Info> {
  const { code, out, err } = await snapshot(...args, "--json");
  expect({ code, err }, args.join(" ")).toEqual({ code: 0, err: "" });
  return JSON.parse(out);
}

/** An image whose snapshot has many parts. */
const NOISE = randomBytes(4 * 2 ** 20);

/** A folder with an image and its snapshot, and an origin that serves the snapshot. */
async function served(options: OriginOptions = {}, content = SMALL) {
  const root = makeTree({ "disk.img": content });
  const [image, file, copy] = ["disk.img", "disk.vhs", "copy.img"].map((name) =>
    join(root, name),
  ) as [string, string, string];
  const { duration, ...info } = await json("create", image, file, "--piece-size", "64KiB");
  const origin = await startOrigin({ files: { "/disk.vhs": file }, ...options });
  onTestFinished(() => origin.close());
  return { root, image, file, copy, info, origin, url: origin.url("/disk.vhs").href };
}

describe("an object store", () => {
  test("uploads a snapshot to S3 and restores it", async () => {
    const { image, file, copy, info, origin } = await served();
    const object = `s3://${s3.bucket}/folder/disk one.vhs`;
    const created = await json("create", image, object, "--piece-size", "64KiB");
    expect(created).toEqual({ ...info, duration: expect.any(Number) });
    expect(s3.objects()).toEqual(["folder/disk one.vhs"]);
    expect(readFileSync(join(s3.folder, "folder/disk one.vhs")).equals(readFileSync(file))).toBe(
      true,
    );
    expect(await json("info", object, "--digest", info.digest)).toEqual(info);
    expect(await json("verify", object, "--connections", "3")).toEqual(info);
    const restored = await json("restore", object, copy, "--part-size", "64KiB");
    expect(restored).toEqual({ ...info, duration: expect.any(Number) });
    expect(readFileSync(copy).equals(SMALL)).toBe(true);
    expect(origin.requestCount).toBe(0);
  });

  test("prefers S3 options over the environment", async () => {
    const { image, info } = await served();
    const elsewhere = {
      ...env,
      AWS_REGION: "us-west-2",
      AWS_ENDPOINT_URL_S3: "http://127.0.0.1:1",
    };
    const args = ["--endpoint", s3.endpoint.href, "--region", s3.region];
    const object = `s3://${s3.bucket}/elsewhere.vhs`;
    for (const command of [
      ["create", image, object, "--piece-size", "64KiB"],
      ["info", object],
      ["verify", object],
    ]) {
      const { code, out, err } = await hedgerow(
        ["snapshot", ...command, ...args, "--json"],
        "",
        elsewhere,
      );
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(JSON.parse(out)).toMatchObject(info);
    }
  });

  test("keeps an existing S3 object with --no-overwrite", async () => {
    const { image, copy, info } = await served();
    const object = `s3://${s3.bucket}/kept.vhs`;
    await json("create", image, object, "--piece-size", "64KiB", "--no-overwrite");
    const { code, out, err } = await snapshotProcess("create", image, object, "--no-overwrite");
    expect({ code, out }).toEqual({ code: 3, out: "" });
    expect(err).toBe(
      `hedgerow: ${object}: destination already exists; omit --no-overwrite to replace it\n`,
    );
    const pinned = ["--no-overwrite", "--digest", info.digest];
    const restored = await snapshotProcess("restore", object, copy, ...pinned);
    expect(restored).toMatchObject({ code: 0, err: "" });
    expect(await snapshot("restore", object, copy, "--no-overwrite")).toMatchObject({ code: 3 });
    expect(s3.multipartUploads()).toEqual([]);
  });

  test("prints an S3 failure in one line without credentials", async () => {
    const { image, copy } = await served();
    const { accessKeyId, secretAccessKey } = s3.credentials;
    const missing = `s3://${s3.bucket}/missing.vhs`;
    const stranger = { ...env, AWS_SECRET_ACCESS_KEY: "5ec2e7" };
    const nobody = { ...env, AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "" };
    const failures = [
      [["info", missing], env, 3, `cannot read ${missing}: no such object (HTTP 404)`],
      [["verify", missing], env, 3, "no such object"],
      [["restore", missing, copy], stranger, 3, "access denied (HTTP 403)"],
      [["create", image, missing], stranger, 3, `${missing}: access denied (HTTP 403`],
      [
        ["create", image, "s3://no-such-bucket/x"],
        env,
        3,
        'bucket "no-such-bucket" does not exist',
      ],
      [["info", missing], nobody, 2, "no valid credentials found"],
    ] as const;
    for (const [args, who, exit, message] of failures) {
      const { code, out, err } = await hedgerow(["snapshot", ...args], "", {
        ...who,
        AWS_CONFIG_FILE: "/dev/null",
        AWS_SHARED_CREDENTIALS_FILE: "/dev/null",
        AWS_EC2_METADATA_DISABLED: "true",
      });
      expect({ code, out }, args.join(" ")).toEqual({ code: exit, out: "" });
      expect(err).toMatch(/^hedgerow: [^\n]+\n$/);
      expect(err).toContain(message);
      for (const secret of [accessKeyId, secretAccessKey, "5ec2e7", "X-Amz"]) {
        expect(err).not.toContain(secret);
      }
    }
  });
});

describe("a server", () => {
  test("restores from and uploads to an HTTP server", async () => {
    const { image, file, copy, info, origin, url } = await served();
    const authority = url.replace("://", `://${USER}@`);
    expect(await json("info", `${url}?${SECRET}`, "--digest", info.digest)).toEqual(info);
    expect(await json("verify", authority)).toEqual(info);
    await json("restore", url, copy, "--connections", "2", "--part-size", "65536");
    expect(readFileSync(copy).equals(SMALL)).toBe(true);
    const put = origin.url("/new.vhs").href;
    const header = ["--header", "Authorization: Bearer 5ec2e7", "--header", "x-one:1"];
    await json("create", image, put, "--piece-size", "64KiB", ...header);
    expect(origin.get("/new.vhs")?.equals(readFileSync(file))).toBe(true);
    const { headers } = origin.requests.at(-1)!;
    expect(headers).toMatchObject({ authorization: "Bearer 5ec2e7", "x-one": "1" });
    const refused = await snapshot("create", image, put, "--no-overwrite");
    expect(refused).toMatchObject({ code: 3, out: "" });
    expect(refused.err).toBe(
      `hedgerow: ${put}: destination already exists; omit --no-overwrite to replace it\n`,
    );
  });

  test("retries a failing server as often as --retries says", async () => {
    const { copy, origin, url } = await served();
    origin.faults = ({ number }) => (number % 2 === 1 ? { status: 503, retryAfter: 0 } : undefined);
    await json("restore", url, copy, "--part-size", "64KiB", "--connections", "1");
    origin.faults = () => ({ status: 500 });
    const before = origin.requestCount;
    const { code, err } = await snapshot("info", `${url}?${SECRET}`, "--retries", "2");
    expect({ code, err }).toEqual({
      code: 3,
      err: `hedgerow: cannot read ${url}: the server failed (HTTP 500) (3 times in a row)\n`,
    });
    expect(origin.requestCount - before).toBe(3);
  });

  test("prints URLs without their secrets", async () => {
    const { copy, origin, url } = await served();
    origin.faults = () => ({ status: 403 });
    const secret = `${url.replace("://", `://${USER}@`)}?${SECRET}`;
    for (const args of [
      ["info", secret],
      ["verify", secret, "--json"],
      ["restore", secret, copy],
    ]) {
      const { code, out, err } = await snapshot(...args);
      expect({ code, out }).toEqual({ code: 3, out: "" });
      expect(err).toContain(`cannot read ${url}: access denied (HTTP 403)`);
      expect(err.trimEnd().split("\n")).toHaveLength(1);
      expect(err).not.toContain("5ec2e7");
    }
  });

  test("warns in one line about a server without ranges", async () => {
    const { info, url } = await served({ faults: () => ({ ignoreRange: true }) });
    const { code, err } = await snapshotProcess("info", `${url}?${SECRET}`);
    expect(code).toBe(0);
    expect(err).toMatch(/^hedgerow: [^\n]+\n$/);
    expect(err).toContain(`${url}: the server has no ranges`);
    const asJson = await snapshotProcess("verify", url, "--json");
    expect([asJson.code, JSON.parse(asJson.out)]).toEqual([0, info]);
    const message = expect.stringMatching(/the server has no ranges/);
    expect(JSON.parse(asJson.err)).toEqual({ warning: { message } });
  });

  test("resumes an interrupted restore from a slow server", async () => {
    const conditions = { bytesPerSecond: 2e6 };
    const { root, file, copy, origin, url, info } = await served({ conditions }, NOISE);
    const few = ["--part-size", "64KiB", "--connections", "1"];
    const args = ["snapshot", "restore", url, copy, "--resume", "--json", ...few];
    // The rest is withheld, so the work cannot finish before the signal arrives.
    const manifest = await manifestOf(file);
    const isMostDone = () => missingBytes(manifest, copy) < 0.4 * info.fileSize;
    origin.faults = () => (isMostDone() ? { noAnswer: true } : undefined);
    const child = start(args);
    const end = ended(child);
    await vi.waitUntil(isMostDone, { timeout: 20_000 });
    child.kill("SIGINT");
    expect(await end).toEqual({ code: "SIGINT", out: "", err: "" });
    const names = ["copy.img", "disk.img", "disk.vhs"];
    expect(readdirSync(root).sort()).toEqual([
      expect.stringMatching(/^\.hedgerow-.*\.journal$/),
      expect.stringMatching(/^\.hedgerow-.*\.part$/),
      ...names.slice(1),
    ]);
    [origin.conditions, origin.faults] = [{}, undefined];
    const before = origin.bytesSent;
    expect(await hedgerowProcess(args)).toMatchObject({ code: 0, err: "" });
    expect(origin.bytesSent - before).toBeLessThan(0.75 * info.fileSize);
    expect(readFileSync(copy).equals(NOISE)).toBe(true);
    expect(readdirSync(root).sort()).toEqual(names);
  });

  test("shows the number of retries in the progress line", async () => {
    const conditions = { bytesPerSecond: 2e6 };
    const { origin, url } = await served({ conditions }, NOISE);
    origin.faults = ({ number }) => (number === 5 ? { status: 500 } : undefined);
    const args = ["snapshot", "verify", url, "--part-size", "64KiB", "--connections", "1"];
    const { code, out } = await ended(startInTerminal(120, args));
    expect(code).toBe(0);
    expect(out).toMatch(/ left +1 retry/);
  });
});

test.for(["create", "flatten", "restore", "info", "verify"])(
  "names the accepted URLs in the help of %s",
  async (command) => {
    const { code, out, err } = await hedgerow(["snapshot", command, "--help"]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const text = out.replace(/\s+/g, " ");
    expect(text).toContain("a file, or a URL: https://…, http://…, s3://bucket/key");
    for (const option of ["connections", "part-size", "retries", "header", "endpoint", "region"]) {
      expect(text).toContain(` --${option} <`);
    }
    expect(text).toContain("credentials come from the environment");
    expect(text).not.toContain("--secret");
  },
);
