/** Snapshots that are made elsewhere than on a disk. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { type CreateOptions, createSnapshot, SnapshotError } from "@hedgerow/snapshot";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { makeCertificate } from "../../../tests/origin/certificate.mjs";
import { type Origin, startOrigin } from "../../../tests/origin/origin.mjs";
import { rejectionOf } from "../../../tests/support/assert.js";
import { type S3Server, startS3 } from "../../../tests/support/s3/server.js";
import { leftovers, temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../tests/support/snapshots/image.js";
import { type Spoil, startProxy } from "../../../tests/support/snapshots/proxy.js";
import { backoff, isLost, isPermanent, MAX_RETRY_AFTER, retryAfter } from "../dist/http/retry.js";
import { partSizeFor } from "../dist/places/part-size.js";
import { presignedGet } from "../dist/s3/presign.js";
import { allToldBy } from "./support/emitted.js";
import { refusalOf } from "./support/refusal.js";

const MIB = 2 ** 20;
const PART = 5 * MIB;

/**
 * How long an abort takes at most, in milliseconds, on a machine that has other things to do: less than
 * an answer is waited for that does not come.
 */
const MAX_DELAY = 4_000;

const path = temporaryFolder();
const [image, small, empty] = [path("image"), path("small"), path("empty")];

/** What a snapshot of each image is. */
const expected = new Map<string, Buffer>();

let s3: S3Server;

/** How the server is reached. */
function as(options: CreateOptions = {}, endpoint: URL = s3.endpoint): CreateOptions {
  const { credentials, region } = s3;
  return { partSize: PART, ...options, s3: { endpoint, credentials, region, ...options.s3 } };
}

const url = (key: string) => `s3://${s3.bucket}/${key}`;
const objectOf = (key: string) => readFileSync(join(s3.folder, key));

/** What was left in what is the system's temporary folder for as long as these tests run. */
const temporary = () => leftovers(path("tmp"));

beforeAll(async () => {
  mkdirSync(path("tmp"));
  vi.stubEnv("TMPDIR", path("tmp"));
  writeFileSync(image, noise("upload", 27 * MIB + 5));
  writeFileSync(small, noise("small", MIB));
  writeFileSync(empty, "");
  for (const name of [image, small, empty]) {
    await createSnapshot(name, path("local.vhs"));
    expected.set(name, readFileSync(path("local.vhs")));
  }
  s3 = await startS3();
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await s3.close();
});

describe("an object of S3", () => {
  test.each([
    ["in parts", image],
    ["in one piece", small],
    ["of nothing", empty],
  ])("%s is what a file would be", async (name, source) => {
    const { duration, ...info } = await createSnapshot(source, url(name), as());
    const { duration: _, ...local } = await createSnapshot(source, path("local.vhs"));
    expect(info).toEqual(local);
    expect(duration).toBeGreaterThan(0);
    expectSame(objectOf(name), expected.get(source)!);
    expect(s3.multipartUploads()).toEqual([]);
  });

  test("takes the place of another", async () => {
    await createSnapshot(image, url("replaced"), as());
    await createSnapshot(small, url("replaced"), as());
    expectSame(objectOf("replaced"), expected.get(small)!);
  });

  test.each(["a b/ä+%41?#&=", "folder/sub/x.vhs"])("has the key %s", async (key) => {
    await createSnapshot(small, url(key), as());
    expectSame(objectOf(key), expected.get(small)!);
  });

  test("is sent by one connection, and by many", async () => {
    const warnings: string[] = [];
    const warn = ({ name }: Error) => void warnings.push(name);
    process.on("warning", warn);
    for (const connections of [1, 64]) {
      await createSnapshot(image, url("connections"), as({ connections }));
      expectSame(objectOf("connections"), expected.get(image)!);
    }
    await sleep(0);
    process.off("warning", warn);
    expect(warnings).not.toContain("MaxListenersExceededWarning");
  });

  test("is not overwritten if that is not wanted", async () => {
    await createSnapshot(image, url("kept"), as({ overwrite: false }));
    const options = as({ overwrite: false, onProgress: () => expect.fail("nothing is made") });
    const error = await refusalOf(createSnapshot(small, url("kept"), options), "ERR_TARGET");
    expect(error.message).toBe(`${url("kept")}: expected nothing there, found an object`);
    expectSame(objectOf("kept"), expected.get(image)!);
  });

  test.each([
    ["parts", image],
    ["one piece", small],
  ])("that appears meanwhile is not overwritten by %s", async (_, source) => {
    await createSnapshot(empty, url("meanwhile"), as());
    const hide: Spoil = ({ method }) => (method === "HEAD" ? { status: 404 } : undefined);
    await using proxy = await startProxy(s3.endpoint, hide);
    const options = as({ overwrite: false }, proxy.endpoint);
    const error = await refusalOf(createSnapshot(source, url("meanwhile"), options), "ERR_TARGET");
    expect(error).toMatchObject({ status: 412, message: /expected nothing there/ });
    expectSame(objectOf("meanwhile"), expected.get(empty)!);
    expect(s3.multipartUploads()).toEqual([]);
  });

  test("is not made of an image that changes", async () => {
    const changing = path("changing");
    for (const bytes of [readFileSync(image), readFileSync(small)]) {
      writeFileSync(changing, bytes);
      // The first request is made after the image was opened, and is answered when it has changed.
      const change: Spoil = ({ method }) => {
        if (method !== "HEAD") return undefined;
        utimesSync(changing, 1, 1);
        return { status: 404 };
      };
      await using proxy = await startProxy(s3.endpoint, change);
      const work = createSnapshot(
        changing,
        url("changing"),
        as({ overwrite: false }, proxy.endpoint),
      );
      await refusalOf(work, "ERR_IMAGE_CHANGED");
    }
    expect(s3.objects()).not.toContain("changing");
    expect(s3.multipartUploads()).toEqual([]);
  });
});

describe("a service that fails", () => {
  type Is = (asked: Parameters<Spoil>[0]) => boolean;

  const part =
    (number: number): Is =>
    ({ url: asked = "" }) =>
      asked.includes(`partNumber=${number}&`);

  const isBeginning: Is = ({ url: asked = "" }) => asked.includes("?uploads");

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

  test.each([1, 3, 6])("at part %i for good leaves nothing", async (number) => {
    const is = part(number);
    const spoil: Spoil = (asked) => (is(asked) ? { status: 403, body: "" } : undefined);
    await using proxy = await startProxy(s3.endpoint, spoil);
    const work = createSnapshot(image, url("failed"), as({}, proxy.endpoint));
    expect(await refusalOf(work, "ERR_TARGET")).toMatchObject({ status: 403 });
    expect(s3.multipartUploads()).toEqual([]);
    expect(s3.objects()).not.toContain("failed");
  });

  test.each([
    ["a part", part(2), { status: 503 }],
    ["a part, whose answer is lost", part(2), { loseAnswer: true }],
    ["the beginning", isBeginning, { status: 500 }],
    ["the end", isComplete, { status: 503, headers: { "retry-after": "1" } }],
    [
      "the end, which it says in its answer",
      isComplete,
      { status: 200, body: "<Error><Code>InternalError</Code><Message>x</Message></Error>" },
    ],
    ["the end, whose answer is lost", isComplete, { loseAnswer: true }],
  ] as const)("at %s is tried again", async (_, is, how) => {
    for (const overwrite of [true, false]) {
      const key = `again ${_} ${overwrite}`.replaceAll(" ", "-");
      await using proxy = await startProxy(s3.endpoint, once(is, how));
      await createSnapshot(image, url(key), as({ overwrite }, proxy.endpoint));
      expectSame(objectOf(key), expected.get(image)!);
      expect(s3.multipartUploads()).toEqual([]);
    }
  });

  test("at what is one piece, whose answer is lost, is tried again", async () => {
    for (const overwrite of [true, false]) {
      const lose = once(({ method }) => method === "PUT", { loseAnswer: true });
      await using proxy = await startProxy(s3.endpoint, lose);
      await createSnapshot(small, url(`lost-${overwrite}`), as({ overwrite }, proxy.endpoint));
      expectSame(objectOf(`lost-${overwrite}`), expected.get(small)!);
    }
  });

  test("more often than is tried fails", async () => {
    await using proxy = await startProxy(s3.endpoint, () => ({ status: 503 }));
    const work = createSnapshot(small, url("busy"), as({ retries: 1 }, proxy.endpoint));
    expect(await refusalOf(work, "ERR_TARGET")).toMatchObject({ status: 503 });
    expect(proxy.requests.length).toBe(2);
  });

  test("and asks for longer than is waited fails at once", async () => {
    const busy = { status: 503, headers: { "retry-after": "61" } };
    await using proxy = await startProxy(s3.endpoint, () => busy);
    const work = createSnapshot(small, url("busy"), as({}, proxy.endpoint));
    expect(await refusalOf(work, "ERR_TARGET")).toMatchObject({ status: 503 });
    expect(proxy.requests.length).toBe(1);
  });

  test("to answer is given up", async () => {
    const forever = { delay: new Promise(() => {}) };
    await using proxy = await startProxy(s3.endpoint, () => forever);
    const timeouts = { firstByte: 100, stall: 100 };
    const work = createSnapshot(small, url("x"), as({ retries: 0, timeouts }, proxy.endpoint));
    expect((await refusalOf(work, "ERR_TARGET")).message).toContain("timed out");
  });

  test("to be reached is told", async () => {
    const endpoint = new URL("http://127.0.0.1:1");
    const error = await refusalOf(
      createSnapshot(small, url("x"), as({ retries: 1 }, endpoint)),
      "ERR_TARGET",
    );
    expect(error.message).toContain(`${url("x")}: `);
    expect(error.message).toContain("ECONNREFUSED");
    expect(error.cause).toMatchObject({ code: "ECONNREFUSED" });
  });

  test("to be trusted is not tried again", async () => {
    const origin = await startOrigin({ tls: makeCertificate() });
    const start = performance.now();
    const work = createSnapshot(small, url("x"), as({ retries: 50 }, origin.url()));
    expect((await refusalOf(work, "ERR_TARGET")).message).toContain("TLS failed");
    expect(performance.now() - start).toBeLessThan(MAX_DELAY);
    await origin.close();
  });
});

describe("what only the caller may know", () => {
  /** Nothing in an error is of the request. */
  function expectNoSecrets(error: unknown): void {
    const told = allToldBy(error);
    expect(told).not.toContain(s3.credentials.secretAccessKey);
    expect(told).not.toContain(s3.credentials.accessKeyId);
    expect(told).not.toMatch(/[0-9a-f]{64}|authorization|x-amz-(signature|credential|security)/i);
    expect(told).not.toContain("$metadata");
  }

  test("no bucket of the name", async () => {
    for (const source of [image, small]) {
      const work = createSnapshot(source, "s3://nowhere/x", as());
      const error = await refusalOf(work, "ERR_TARGET");
      expect(error.status).toBe(404);
      expect(error.message).toMatch(/^s3:\/\/nowhere\/x: expected a bucket "nowhere", found none/);
      expectNoSecrets(error);
    }
  });

  test("another key", async () => {
    const secretAccessKey = "not-the-secret-of-the-server";
    const credentials = { ...s3.credentials, secretAccessKey };
    for (const source of [image, small]) {
      const work = createSnapshot(source, url("x"), as({ s3: { credentials } }));
      const error = await refusalOf(work, "ERR_TARGET");
      expect(error.status).toBe(403);
      expect(error.message).toContain(`${url("x")}: access denied (403`);
      expectNoSecrets(error);
      expect(allToldBy(error)).not.toContain(secretAccessKey);
    }
  });

  test("the token of a session", async () => {
    const credentials = { ...s3.credentials, sessionToken: "session-of-nobody" };
    const work = createSnapshot(small, url("x"), as({ s3: { credentials } }));
    const error = await refusalOf(work, "ERR_TARGET");
    expectNoSecrets(error);
    expect(allToldBy(error)).not.toContain("session-of-nobody");
  });

  test.each(["Code", "Message", "Other"])("a service that repeats it as its %s", async (name) => {
    const spoil: Spoil = ({ headers }) => {
      const repeated = `<${name}>${s3.credentials.secretAccessKey} ${headers.authorization}</${name}>`;
      const body = `<Error><Code>Denied</Code><Message>no</Message>${repeated}</Error>`;
      return { status: 400, body };
    };
    await using proxy = await startProxy(s3.endpoint, spoil);
    for (const source of [image, small]) {
      const work = createSnapshot(source, url("x"), as({}, proxy.endpoint));
      expectNoSecrets(await refusalOf(work, "ERR_TARGET"));
    }
  });

  /** What the SDK finds of its own: nothing. */
  function forgetEnvironment(): void {
    for (const name of Object.keys(process.env)) {
      if (name.startsWith("AWS_")) vi.stubEnv(name, undefined);
    }
    vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
    vi.stubEnv("AWS_CONFIG_FILE", path("none"));
    vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", path("none"));
  }

  test("no credentials, no region", async () => {
    forgetEnvironment();
    const { endpoint, region } = s3;
    const nobody = createSnapshot(small, url("x"), { s3: { endpoint, region } });
    expect((await refusalOf(nobody, "ERR_ARGUMENT")).message).toContain("AWS_ACCESS_KEY_ID");
    const nowhere = createSnapshot(small, url("x"), { s3: { credentials: s3.credentials } });
    expect((await refusalOf(nowhere, "ERR_ARGUMENT")).message).toContain("AWS_REGION");
  });

  test("all of it in the environment", async () => {
    forgetEnvironment();
    vi.stubEnv("AWS_ENDPOINT_URL_S3", s3.endpoint.href);
    vi.stubEnv("AWS_ACCESS_KEY_ID", s3.credentials.accessKeyId);
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", s3.credentials.secretAccessKey);
    vi.stubEnv("AWS_REGION", s3.region);
    await createSnapshot(small, url("environment"));
    expectSame(objectOf("environment"), expected.get(small)!);
  });
});

describe("the end of the work", () => {
  const reason = new Error("the caller's own");

  /** Whether the work ended as it was told to, and nothing is left of it, or it was done already. */
  async function expectEnded(work: Promise<unknown>, key: string, source: string): Promise<void> {
    const outcome = await work.then(
      () => undefined,
      (error: unknown) => error,
    );
    if (outcome === undefined) expectSame(objectOf(key), expected.get(source)!);
    else {
      expect(outcome).toBe(reason);
      expect(s3.objects()).not.toContain(key);
    }
    expect(s3.multipartUploads()).toEqual([]);
    expect(temporary()).toEqual([]);
  }

  test.each([0, 5, 15, 30, 45, 60, 75, 90, 120, 150, 200])("after %i ms", async (delay) => {
    for (const source of [image, small]) {
      const key = `ended-${delay}-${expected.get(source)?.length}`;
      const controller = new AbortController();
      const work = createSnapshot(source, url(key), as({ signal: controller.signal }));
      work.catch(() => {});
      await sleep(delay);
      const start = performance.now();
      controller.abort(reason);
      await expectEnded(work, key, source);
      expect(performance.now() - start).toBeLessThan(MAX_DELAY);
    }
  });

  test("before it began", async () => {
    const work = createSnapshot(image, url("before"), as({ signal: AbortSignal.abort(reason) }));
    await expectEnded(work, "before", image);
    expect(await rejectionOf(work)).toBe(reason);
  });

  test("while the upload begins", async () => {
    const controller = new AbortController();
    const spoil: Spoil = ({ url: asked = "" }) => {
      if (!asked.includes("?uploads")) return undefined;
      setTimeout(() => controller.abort(reason), 50);
      return { delay: sleep(150) };
    };
    await using proxy = await startProxy(s3.endpoint, spoil);
    const options = as({ signal: controller.signal }, proxy.endpoint);
    const work = createSnapshot(image, url("begun"), options);
    expect(await rejectionOf(work)).toBe(reason);
    await expectEnded(work, "begun", image);
    expect(proxy.requests.filter((line) => line.startsWith("DELETE")).length).toBe(1);
  });

  test.each([
    ["its last request, of parts", "POST", /uploadId=/, image],
    ["its only request", "PUT", /./, small],
  ])("after %s comes too late", async (_, method, last, source) => {
    const controller = new AbortController();
    const spoil: Spoil = (asked) => {
      if (asked.method !== method || !last.test(asked.url ?? "")) return undefined;
      const delay = new Promise<void>((resolve) => {
        asked.once("end", async () => {
          await sleep(50);
          controller.abort(reason);
          setTimeout(resolve, 100);
        });
      });
      return { delay };
    };
    await using proxy = await startProxy(s3.endpoint, spoil);
    const options = as({ signal: controller.signal }, proxy.endpoint);
    await createSnapshot(source, url(`late-${method}`), options);
    expect(controller.signal.aborted).toBe(true);
    expectSame(objectOf(`late-${method}`), expected.get(source)!);
  });

  test("while a try is waited for", async () => {
    const controller = new AbortController();
    const spoil: Spoil = () => {
      setTimeout(() => controller.abort(reason), 50);
      return { status: 503, headers: { "retry-after": "30" } };
    };
    await using proxy = await startProxy(s3.endpoint, spoil);
    const start = performance.now();
    const options = as({ signal: controller.signal }, proxy.endpoint);
    expect(await rejectionOf(createSnapshot(small, url("x"), options))).toBe(reason);
    expect(performance.now() - start).toBeLessThan(MAX_DELAY);
  });

  test("is the end of its process", async () => {
    const module = pathToFileURL(createRequire(import.meta.url).resolve("@hedgerow/snapshot"));
    const script = `
      import { createSnapshot } from ${JSON.stringify(module.href)};
      const { image, url, s3 } = JSON.parse(process.argv[1]);
      const partSize = ${PART};
      for (const delay of [60, 90, 120]) {
        const signal = AbortSignal.timeout(delay);
        await createSnapshot(image, url, { s3, partSize, signal }).catch(() => {});
      }
      const end = performance.now();
      process.on("exit", () => console.log(performance.now() - end));`;
    const what = JSON.stringify({ image, url: url("process"), s3: as().s3 });
    const run = promisify(execFile);
    const args = ["--input-type=module", "--eval", script, "--", what];
    const { stdout } = await run(process.execPath, args, { timeout: 20_000 });
    expect(Number(stdout)).toBeLessThan(MAX_DELAY);
    expect(s3.multipartUploads()).toEqual([]);
  });
});

describe("a presigned URL", () => {
  test("of an object takes ranges, and signs nothing but the host", async () => {
    await createSnapshot(image, url("presigned"), as());
    const location = { bucket: s3.bucket, key: "presigned" };
    const { url: signed, name } = await presignedGet(location, as().s3);
    expect(name).toBe(url("presigned"));
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

  test("takes a snapshot", async () => {
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
    expect(allToldBy(error)).not.toMatch(/X-Amz|[0-9a-f]{64}/i);
  });
});

describe("a server that takes a PUT", () => {
  let origin: Origin;

  beforeAll(async () => {
    origin = await startOrigin();
  });
  afterAll(() => origin.close());
  beforeEach(() => {
    origin.faults = undefined;
    origin.conditions = {};
    origin.requests.length = 0;
  });

  const last = () => origin.requests.at(-1)!;

  test.each([image, small, empty])("has what a file would be, of %s", async (source) => {
    const { duration: _, ...info } = await createSnapshot(source, origin.url("/x?secret=1"));
    const { duration: __, ...local } = await createSnapshot(source, path("local.vhs"));
    expect(info).toEqual(local);
    expectSame(origin.get("/x")!, expected.get(source)!);
    expect(last().headers["content-length"]).toBe(String(info.fileSize));
    expect(last().headers["transfer-encoding"]).toBeUndefined();
    expect(temporary()).toEqual([]);
  });

  test("is told what the caller says, and the user of the URL", async () => {
    const target = origin.url("/user");
    [target.username, target.password] = ["us%20er", "pass"];
    const headers = { "X-Some": "thing", "Content-Length": "1" };
    await createSnapshot(small, target, { headers });
    const authorization = `Basic ${Buffer.from("us er:pass").toString("base64")}`;
    expect(last().headers).toMatchObject({ authorization, "x-some": "thing" });
    expectSame(origin.get("/user")!, expected.get(small)!);
  });

  test("is asked again when it says so", async () => {
    origin.faults = ({ number }) =>
      number === origin.requestCount && origin.requests.length === 1
        ? { status: 503, retryAfter: 1 }
        : undefined;
    await createSnapshot(small, origin.url("/busy"));
    const [first, second] = origin.requests;
    expect(second!.begin - first!.begin).toBeGreaterThanOrEqual(950);
    expectSame(origin.get("/busy")!, expected.get(small)!);
  });

  test("that asks for longer than is waited is not asked again", async () => {
    origin.faults = () => ({ status: 429, retryAfter: 61 });
    const error = await refusalOf(createSnapshot(small, origin.url("/x")), "ERR_TARGET");
    expect([error.status, origin.requests.length]).toEqual([429, 1]);
  });

  test("that loses the connection is asked again", async () => {
    origin.faults = () => (origin.requests.length < 3 ? { cutAfter: 100_000 } : undefined);
    await createSnapshot(image, origin.url("/cut"));
    expect(origin.requests.length).toBe(3);
    expectSame(origin.get("/cut")!, expected.get(image)!);
  });

  test.each([
    ["answer", { noAnswer: true }, { firstByte: 100 }, "no answer within 100 ms"],
    ["go on", { stallAfter: MIB }, { stall: 100 }, "no progress within 100 ms"],
  ])("that does not %s is given up", async (_, fault, timeouts, message) => {
    origin.faults = () => fault;
    const source = message.includes("answer") ? small : image;
    const work = createSnapshot(source, origin.url("/slow"), { retries: 0, timeouts });
    expect((await refusalOf(work, "ERR_TARGET")).message).toContain(message);
  });

  test("that wants none is asked once", async () => {
    origin.faults = () => ({ status: 403 });
    const target = origin.url("/denied?X-Amz-Signature=abc");
    [target.username, target.password] = ["nobody", "password"];
    const headers = { cookie: "very-secret" };
    const error = await refusalOf(createSnapshot(small, target, { headers }), "ERR_TARGET");
    expect([error.status, origin.requests.length]).toEqual([403, 1]);
    expect(error.message).toBe(
      `${origin.url("/denied")}: expected the server to take it, found 403 Forbidden`,
    );
    expect(allToldBy(error)).not.toMatch(/nobody|password|X-Amz|very-secret/);
    expect(temporary()).toEqual([]);
  });

  test("is not overwritten if that is not wanted", async () => {
    await createSnapshot(small, origin.url("/once"), { overwrite: false });
    const again = createSnapshot(empty, origin.url("/once"), { overwrite: false });
    const error = await refusalOf(again, "ERR_TARGET");
    expect(error).toMatchObject({
      status: 412,
      message: /expected nothing there, found something/,
    });
    expectSame(origin.get("/once")!, expected.get(small)!);
  });

  test("leads elsewhere, where the caller's headers do not go", async () => {
    const other = await startOrigin();
    const headers = { authorization: "Bearer x" };
    for (const [location, status, heard] of [
      ["/there", 307, origin],
      [other.url("/there").href, 308, other],
    ] as const) {
      origin.faults = ({ path }) => (path === "/here" ? { status, location } : undefined);
      await createSnapshot(image, origin.url("/here"), { headers, overwrite: false });
      const found = heard.requests.at(-1)!.headers;
      expect(found.authorization).toBe(heard === origin ? "Bearer x" : undefined);
      expect(found["if-none-match"]).toBe("*");
      expectSame(heard.get("/there")!, expected.get(image)!);
    }
    await other.close();
  });

  test.each([
    ["again and again", { status: 307, location: "/round" }, 6],
    ["to where it would be a GET", { status: 302, location: "/there" }, 1],
    ["to no server", { status: 307, location: "file:///etc/passwd" }, 1],
    ["nowhere", { status: 308 }, 1],
  ])("that leads %s is not followed", async (_, fault, count) => {
    origin.faults = () => fault;
    const error = await refusalOf(createSnapshot(small, origin.url("/round")), "ERR_TARGET");
    expect([error.status, origin.requests.length]).toEqual([fault.status, count]);
  });

  test("that has TLS must be trusted, and does not lead out of it", async () => {
    const tls = makeCertificate();
    const safe = await startOrigin({ tls });
    const start = performance.now();
    const untrusted = createSnapshot(small, safe.url("/x"), { retries: 50 });
    const error = await refusalOf(untrusted, "ERR_TARGET");
    expect(error.message).toContain("TLS failed: self");
    expect(performance.now() - start).toBeLessThan(MAX_DELAY);
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    await createSnapshot(image, safe.url("/x"));
    expectSame(safe.get("/x")!, expected.get(image)!);
    safe.faults = () => ({ status: 307, location: origin.url("/plain").href });
    await refusalOf(createSnapshot(small, safe.url("/x")), "ERR_TARGET");
    expect(origin.get("/plain")).toBeUndefined();
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", undefined);
    await safe.close();
  });

  test.each([0, 30, 60, 100, 150, 250])("has nothing of what ended after %i ms", async (delay) => {
    const reason = new Error("the caller's own");
    origin.conditions = { bytesPerSecond: 20 * MIB };
    const controller = new AbortController();
    const target = origin.url(`/ended-${delay}`);
    const work = createSnapshot(image, target, { signal: controller.signal });
    work.catch(() => {});
    await sleep(delay);
    const start = performance.now();
    controller.abort(reason);
    expect(await rejectionOf(work)).toBe(reason);
    expect(performance.now() - start).toBeLessThan(MAX_DELAY);
    expect(temporary()).toEqual([]);
    await sleep(50);
    expect(origin.get(target.pathname)).toBeUndefined();
  });

  test("has all of what ended when it was sent", async () => {
    const controller = new AbortController();
    origin.faults = () => ({ firstByte: 500 });
    const work = createSnapshot(small, origin.url("/late"), { signal: controller.signal });
    const isSent = () => origin.requests[0]?.bytesReceived === expected.get(small)!.length;
    await vi.waitUntil(isSent, { timeout: 20_000, interval: 1 });
    expect(origin.requests[0]!.status).toBe(0);
    controller.abort();
    await work;
    expectSame(origin.get("/late")!, expected.get(small)!);
  });

  test("must be told what it can be", async () => {
    const headers = { "x-secret": "not\na header" };
    const error = await refusalOf(
      createSnapshot(small, origin.url("/x"), { headers }),
      "ERR_ARGUMENT",
    );
    expect(allToldBy(error)).not.toContain("a header");
    expect(temporary()).toEqual([]);
  });
});

describe("a file", () => {
  test("is not overwritten if that is not wanted", async () => {
    const target = path("files", "kept.vhs");
    mkdirSync(path("files"));
    await createSnapshot(small, target, { overwrite: false });
    expectSame(readFileSync(target), expected.get(small)!);
    expect(statSync(target)).toMatchObject({ nlink: 1, mode: 0o100600 });
    const error = await refusalOf(
      createSnapshot(empty, target, { overwrite: false }),
      "ERR_TARGET",
    );
    expect(error.message).toBe(`${target} already exists, and overwrite is false`);
    expectSame(readFileSync(target), expected.get(small)!);
    expect(leftovers(path("files"))).toEqual([]);
  });

  test("that appears meanwhile is not overwritten", async () => {
    const target = path("meanwhile.vhs");
    const onProgress = () => {
      if (!existsSync(target)) writeFileSync(target, "another's");
    };
    const work = createSnapshot(small, target, { overwrite: false, onProgress });
    await refusalOf(work, "ERR_TARGET");
    expect(readFileSync(target, "utf8")).toBe("another's");
    expect(leftovers(path())).toEqual([]);
  });
});

test("what is not understood is refused", async () => {
  for (const options of [{ overwrite: 1 }, { partSize: 1 }, { retries: -1 }]) {
    const work = createSnapshot(small, path("x"), options as CreateOptions);
    expect(await rejectionOf(work)).toBeInstanceOf(SnapshotError);
    await refusalOf(work, "ERR_ARGUMENT");
  }
});

describe("trying again", () => {
  test("waits up to twice as long each time, up to 5 s", () => {
    const most = [1, 2, 3, 4, 5, 6, 7, 8, 100].map((attempt) => backoff(attempt, () => 1));
    expect(most).toEqual([100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
    expect(backoff(7, () => 0)).toBe(0);
  });

  test("waits as long as a server says", () => {
    const now = Date.parse("Wed, 21 Oct 2015 07:28:00 GMT");
    expect(retryAfter("3", now)).toBe(3000);
    expect(retryAfter("Wed, 21 Oct 2015 07:28:07 GMT", now)).toBe(7000);
    expect(retryAfter("Wed, 21 Oct 2015 07:27:00 GMT", now)).toBe(0);
    expect(retryAfter("61", now)).toBeGreaterThan(MAX_RETRY_AFTER);
    for (const none of [undefined, null, "", "-1", "1.5", "soon"]) {
      expect(retryAfter(none, now)).toBeUndefined();
    }
  });

  test("mends no names and no certificates", () => {
    for (const code of [
      "ENOTFOUND",
      "EPROTO",
      "CERT_HAS_EXPIRED",
      "ERR_TLS_CERT_ALTNAME_INVALID",
    ]) {
      expect([isPermanent({ code }), isLost({ code })]).toEqual([true, false]);
    }
    for (const code of ["ECONNRESET", "ECONNREFUSED", "EAI_AGAIN", "ETIMEDOUT"]) {
      expect([isPermanent({ code }), isLost({ code })]).toEqual([false, true]);
    }
  });
});

test("parts are as long as 10,000 of them need be", () => {
  expect(partSizeFor(MIB, 1)).toBe(5 * MIB);
  expect(partSizeFor(8 * MIB, 10_000 * 8 * MIB)).toBe(8 * MIB);
  expect(partSizeFor(8 * MIB, 10_000 * 8 * MIB + 1)).toBe(8 * MIB + 1);
});
