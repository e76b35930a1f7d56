/** Uploads to S3 that fail or are aborted. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { createSnapshot, restoreSnapshot } from "@hedgerow/snapshot";
import { expect, test } from "vitest";
import { makeCertificate } from "../../../../tests/origin/certificate.mjs";
import { startOrigin } from "../../../../tests/origin/origin.mjs";
import { rejectionOf } from "../../../../tests/support/assert.js";
import { expectSame } from "../../../../tests/support/snapshots/image.js";
import { type InjectFault, startProxy } from "../../../../tests/support/snapshots/proxy.js";
import { trials } from "../../../../tests/support/trials.js";
import { refused } from "../support/quirks.js";
import { refusalOf } from "../support/refusal.js";
import {
  empty,
  expected,
  image,
  MAX_ABORT_TIME,
  path,
  small,
  temporaryFiles,
} from "../support/upload.js";
import { objectOf, PART, putObject, s3, s3Options, urlOf } from "../support/upload-s3.js";

type Is = (asked: Parameters<InjectFault>[0]) => boolean;

const part =
  (number: number): Is =>
  ({ url: asked = "" }) =>
    asked.includes(`partNumber=${number}&`);

const isCreate: Is = ({ url: asked = "" }) => asked.includes("?uploads");

const isComplete: Is = ({ method, url: asked = "" }) =>
  method === "POST" && asked.includes("uploadId=");

/** Spoils the first request of a kind. */
function once(is: Is, how: ReturnType<InjectFault>): InjectFault {
  let isDone = false;
  return (asked) => {
    if (isDone || !is(asked)) return undefined;
    isDone = true;
    return how;
  };
}

test.each([1, 3])("leaves nothing in S3 if part %i fails permanently", async (number) => {
  const is = part(number);
  const inject: InjectFault = (asked) => (is(asked) ? { status: 403, body: "" } : undefined);
  await using proxy = await startProxy(s3.endpoint, inject);
  const work = createSnapshot(image, urlOf("failed"), s3Options({}, proxy.endpoint));
  expect(await refusalOf(work, "ERR_TARGET")).toMatchObject({ status: 403 });
  expect(s3.multipartUploads()).toEqual([]);
  expect(s3.objects()).not.toContain("failed");
});

const spoiled = [
  ["a part", part(2), { status: 503 }],
  ["a part, whose response is lost", part(2), { loseResponse: true }],
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
  ["the completion, whose response is lost", isComplete, { loseResponse: true }],
  ["a part that collides with another request", part(2), refused(409, "OperationAborted")],
  ["a part that was cut off on the way", part(3), refused(400, "IncompleteBody")],
  ["a completion that collides", isComplete, refused(409, "ConditionalRequestConflict")],
  [
    "the completion, whose response is cut off",
    isComplete,
    { change: (body: Buffer) => body.subarray(0, body.length / 2) },
  ],
] as const;

test.each(spoiled)("retries %s", async (what, is, how) => {
  // `npm test` uploads with and without `overwrite` in turn, and `npm run verify` both ways for each request.
  const ways =
    spoiled.findIndex(([name]) => name === what) % 2 === 0 ? [true, false] : [false, true];
  for (const overwrite of ways.slice(0, trials({ few: 1, all: 2 }))) {
    const key = `again ${what} ${overwrite}`.replaceAll(" ", "-");
    await using proxy = await startProxy(s3.endpoint, once(is, how));
    await createSnapshot(image, urlOf(key), s3Options({ overwrite }, proxy.endpoint));
    expectSame(objectOf(key), expected.get(image)!);
    expect(s3.multipartUploads()).toEqual([]);
  }
});

test.each(["snapshot", "delta"])(
  "starts the upload of a %s again if a conflict has ended it",
  async (kind) => {
    await putObject("base", expected.get(empty)!);
    const answers = [refused(409, "ConditionalRequestConflict"), refused(404, "NoSuchUpload")];
    await using proxy = await startProxy(s3.endpoint, (asked) =>
      isComplete(asked) ? answers.shift() : undefined,
    );
    const options = s3Options({ overwrite: false }, proxy.endpoint);
    const base = kind === "delta" ? urlOf("base") : undefined;
    await createSnapshot(image, urlOf(kind), { ...options, base });
    expect(answers).toEqual([]);
    expect(s3.multipartUploads()).toEqual([]);
    await restoreSnapshot(urlOf(kind), path("restored"), { s3: s3Options().s3 });
    expectSame(readFileSync(path("restored")), readFileSync(image));
  },
);

test("retries an upload in one request whose response is lost", async () => {
  for (const overwrite of [true, false]) {
    const lose = once(({ method }) => method === "PUT", { loseResponse: true });
    await using proxy = await startProxy(s3.endpoint, lose);
    await createSnapshot(
      small,
      urlOf(`lost-${overwrite}`),
      s3Options({ overwrite }, proxy.endpoint),
    );
    expectSame(objectOf(`lost-${overwrite}`), expected.get(small)!);
  }
});

test("finds its object of S3 although every response to the upload is lost", async () => {
  const lose: InjectFault = ({ method }) => (method === "PUT" ? { loseResponse: true } : undefined);
  await using proxy = await startProxy(s3.endpoint, lose);
  const options = s3Options({ overwrite: false, retries: 1 }, proxy.endpoint);
  await createSnapshot(small, urlOf("every"), options);
  expectSame(objectOf("every"), expected.get(small)!);
});

test("finds another object of S3 although every refusal of the upload is lost", async () => {
  // The object is made after createSnapshot has looked for it.
  const lose: InjectFault = ({ method }) =>
    method === "PUT"
      ? { hold: putObject("taken", Buffer.alloc(1)), loseResponse: true }
      : undefined;
  await using proxy = await startProxy(s3.endpoint, lose);
  const options = s3Options({ overwrite: false, retries: 1 }, proxy.endpoint);
  const error = await refusalOf(createSnapshot(small, urlOf("taken"), options), "ERR_TARGET");
  expect(error).toMatchObject({ status: 412, message: expect.stringContaining("exists") });
  expectSame(objectOf("taken"), Buffer.alloc(1));
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

test("waits for a gateway that passes an upload on when it has all of it", async () => {
  const isUpload: Is = ({ method }) => method === "PUT" || method === "POST";
  await using proxy = await startProxy(s3.endpoint, (asked) =>
    isUpload(asked) ? { delay: sleep(1_500) } : undefined,
  );
  const timeouts = { firstByte: 500, stall: 500 };
  await createSnapshot(image, urlOf("gateway"), s3Options({ timeouts }, proxy.endpoint));
  expectSame(objectOf("gateway"), expected.get(image)!);
  expect(new Set(proxy.requests).size).toBe(proxy.requests.length);
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

const reason = new Error("the caller's own");

/** Throws unless the work was aborted and left nothing, or was complete already. */
async function expectAborted(work: Promise<unknown>, key: string, source: string): Promise<void> {
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
  expect(temporaryFiles()).toEqual([]);
}

const delays = [0, 15, 30, 60, 90, 150];

test.each(delays)("aborts an upload to S3 after %i ms, and leaves nothing", async (delay) => {
  // `npm test` aborts the uploads of the two images in turn, and `npm run verify` both after each delay.
  const sources = delays.indexOf(delay) % 2 === 0 ? [image, small] : [small, image];
  for (const source of sources.slice(0, trials({ few: 1, all: 2 }))) {
    const key = `ended-${delay}-${expected.get(source)?.length}`;
    const controller = new AbortController();
    const work = createSnapshot(source, urlOf(key), s3Options({ signal: controller.signal }));
    work.catch(() => {});
    await sleep(delay);
    const start = performance.now();
    controller.abort(reason);
    await expectAborted(work, key, source);
    expect(performance.now() - start).toBeLessThan(MAX_ABORT_TIME);
  }
});

test("aborts an upload to S3 before it starts", async () => {
  const work = createSnapshot(
    image,
    urlOf("before"),
    s3Options({ signal: AbortSignal.abort(reason) }),
  );
  await expectAborted(work, "before", image);
  expect(await rejectionOf(work)).toBe(reason);
});

test("aborts an upload to S3 while it is created", async () => {
  const controller = new AbortController();
  const inject: InjectFault = ({ url: asked = "" }) => {
    if (!asked.includes("?uploads")) return undefined;
    setTimeout(() => controller.abort(reason), 50);
    return { delay: sleep(150) };
  };
  await using proxy = await startProxy(s3.endpoint, inject);
  const options = s3Options({ signal: controller.signal }, proxy.endpoint);
  const work = createSnapshot(image, urlOf("begun"), options);
  expect(await rejectionOf(work)).toBe(reason);
  await expectAborted(work, "begun", image);
  expect(proxy.requests.filter((line) => line.startsWith("DELETE")).length).toBe(1);
});

test.each([
  ["its last request, of parts", "POST", /uploadId=/, image],
  ["its only request", "PUT", /./, small],
])("completes an upload that is aborted after %s", async (_, method, last, source) => {
  const controller = new AbortController();
  const inject: InjectFault = (asked) => {
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
  await using proxy = await startProxy(s3.endpoint, inject);
  const options = s3Options({ signal: controller.signal }, proxy.endpoint);
  await createSnapshot(source, urlOf(`late-${method}`), options);
  expect(controller.signal.aborted).toBe(true);
  expectSame(objectOf(`late-${method}`), expected.get(source)!);
});

test("aborts an upload to S3 during a pause before a retry", async () => {
  const controller = new AbortController();
  const inject: InjectFault = () => {
    setTimeout(() => controller.abort(reason), 50);
    return { status: 503, headers: { "retry-after": "30" } };
  };
  await using proxy = await startProxy(s3.endpoint, inject);
  const start = performance.now();
  const options = s3Options({ signal: controller.signal }, proxy.endpoint);
  expect(await rejectionOf(createSnapshot(small, urlOf("x"), options))).toBe(reason);
  expect(performance.now() - start).toBeLessThan(MAX_ABORT_TIME);
});

test("lets the process end after an abort", async () => {
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
  const what = JSON.stringify({ image, url: urlOf("process"), s3: s3Options().s3 });
  const run = promisify(execFile);
  const args = ["--input-type=module", "--eval", script, "--", what];
  const { stdout } = await run(process.execPath, args, { timeout: 20_000 });
  expect(Number(stdout)).toBeLessThan(MAX_ABORT_TIME);
  expect(s3.multipartUploads()).toEqual([]);
});
