/** Uploads of snapshots by HTTP `PUT`. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createSnapshot } from "@hedgerow/snapshot";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { makeCertificate } from "../../../../tests/origin/certificate.mjs";
import { type Origin, startOrigin } from "../../../../tests/origin/origin.mjs";
import { rejectionOf } from "../../../../tests/support/assert.js";
import { expectSame } from "../../../../tests/support/snapshots/image.js";
import { startProxy } from "../../../../tests/support/snapshots/proxy.js";
import { textsIn } from "../support/error-texts.js";
import { refusalOf } from "../support/refusal.js";
import {
  empty,
  expected,
  image,
  MAX_ABORT_TIME,
  MIB,
  path,
  small,
  temporaryFiles,
} from "../support/upload.js";

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

test.each([image, small, empty])(
  "uploads the same bytes as are in a file, of %s",
  async (source) => {
    const { duration: _, ...info } = await createSnapshot(source, origin.url("/x?secret=1"));
    const { duration: __, ...local } = await createSnapshot(source, path("local.vhs"));
    expect(info).toEqual(local);
    expectSame(origin.get("/x")!, expected.get(source)!);
    expect(last().headers["content-length"]).toBe(String(info.fileSize));
    expect(last().headers["transfer-encoding"]).toBeUndefined();
    expect(temporaryFiles()).toEqual([]);
  },
);

test("sends the headers of the caller, and the user of the URL", async () => {
  const target = origin.url("/user");
  [target.username, target.password] = ["us%20er", "pass"];
  const headers = { "X-Some": "thing", "Content-Length": "1" };
  await createSnapshot(small, target, { headers });
  const authorization = `Basic ${Buffer.from("us er:pass").toString("base64")}`;
  expect(last().headers).toMatchObject({ authorization, "x-some": "thing" });
  expectSame(origin.get("/user")!, expected.get(small)!);
});

test("retries a PUT after the pause that the server asks for", async () => {
  origin.faults = ({ number }) =>
    number === origin.requestCount && origin.requests.length === 1
      ? { status: 503, retryAfter: 1 }
      : undefined;
  await createSnapshot(small, origin.url("/busy"));
  const [first, second] = origin.requests;
  expect(second!.begin - first!.begin).toBeGreaterThanOrEqual(950);
  expectSame(origin.get("/busy")!, expected.get(small)!);
});

test("does not retry a PUT if the server asks for a longer pause than is obeyed", async () => {
  origin.faults = () => ({ status: 429, retryAfter: 61 });
  const error = await refusalOf(createSnapshot(small, origin.url("/x")), "ERR_TARGET");
  expect([error.status, origin.requests.length]).toEqual([429, 1]);
});

test("retries a PUT whose connection is lost", async () => {
  origin.faults = () => (origin.requests.length < 3 ? { cutAfter: 100_000 } : undefined);
  await createSnapshot(image, origin.url("/cut"));
  expect(origin.requests.length).toBe(3);
  expectSame(origin.get("/cut")!, expected.get(image)!);
});

test.each([
  ["respond", { noAnswer: true }, { firstByte: 100 }, "no response within 100 ms"],
  ["receive the rest", { stallAfter: MIB }, { stall: 100 }, "no progress within 100 ms"],
])("gives up a server that does not %s", async (_, fault, timeouts, message) => {
  origin.faults = () => fault;
  const source = message.includes("response") ? small : image;
  const work = createSnapshot(source, origin.url("/slow"), { retries: 0, timeouts });
  expect((await refusalOf(work, "ERR_TARGET")).message).toContain(message);
});

test("waits for a gateway that passes a PUT on when it has all of it", async () => {
  origin.faults = () => ({ firstByte: 1_500 });
  await createSnapshot(small, origin.url("/gateway"), { timeouts: { firstByte: 500 } });
  expectSame(origin.get("/gateway")!, expected.get(small)!);
  expect(origin.requests.length).toBe(1);
});

test("does not retry a PUT that is denied, and reports it without secrets", async () => {
  origin.faults = () => ({ status: 403 });
  const target = origin.url("/denied?X-Amz-Signature=abc");
  [target.username, target.password] = ["nobody", "password"];
  const headers = { cookie: "very-secret" };
  const error = await refusalOf(createSnapshot(small, target, { headers }), "ERR_TARGET");
  expect([error.status, origin.requests.length]).toEqual([403, 1]);
  expect(error.message).toBe(`cannot write ${origin.url("/denied")}: access denied (HTTP 403)`);
  expect(textsIn(error)).not.toMatch(/nobody|password|X-Amz|very-secret/);
  expect(temporaryFiles()).toEqual([]);
});

test("repeats a PUT without Expect if the server does not support that", async () => {
  origin.faults = ({ headers }) => (headers.expect === undefined ? undefined : { status: 417 });
  await createSnapshot(image, origin.url("/unexpected"), { retries: 0 });
  expect(origin.requests.map(({ status }) => status)).toEqual([417, 201]);
  expectSame(origin.get("/unexpected")!, expected.get(image)!);
});

test("keeps an existing file of a server with overwrite: false", async () => {
  await createSnapshot(small, origin.url("/once"), { overwrite: false });
  const again = createSnapshot(empty, origin.url("/once"), { overwrite: false });
  const { message } = await refusalOf(again, "ERR_TARGET");
  const exists = "destination already exists; pass overwrite: true to replace it";
  expect(message).toBe(`${origin.url("/once")}: ${exists}`);
  expectSame(origin.get("/once")!, expected.get(small)!);
});

test("keeps a file of a server that appears during the upload", async () => {
  await createSnapshot(small, origin.url("/meanwhile"));
  origin.faults = ({ method }) => (method === "GET" ? { status: 404 } : undefined);
  const again = createSnapshot(empty, origin.url("/meanwhile"), { overwrite: false });
  const error = await refusalOf(again, "ERR_TARGET");
  expect(error).toMatchObject({
    status: 412,
    message: /destination already exists \(HTTP 412\); pass overwrite: true/,
  });
  expectSame(origin.get("/meanwhile")!, expected.get(small)!);
});

test("finds with overwrite: false what it has stored if the response was lost", async () => {
  let count = 0;
  await using proxy = await startProxy(origin.url("/"), ({ method }) => {
    if (method !== "PUT") return undefined;
    count += 1;
    return { loseResponse: count === 1 };
  });
  await createSnapshot(small, new URL("/lost", proxy.endpoint), { overwrite: false });
  const statuses = origin.requests.filter(({ method }) => method === "PUT");
  expect(statuses.map(({ status }) => status)).toEqual([201, 412]);
  expectSame(origin.get("/lost")!, expected.get(small)!);
});

test("follows a redirect of a PUT, and drops the headers of the caller for another origin", async () => {
  const other = await startOrigin();
  const headers = { authorization: "Bearer x" };
  for (const [location, status, heard] of [
    ["/there", 307, origin],
    [other.url("/there").href, 308, other],
  ] as const) {
    origin.faults = ({ path }) => (path === "/here" ? { status, location } : undefined);
    await createSnapshot(image, origin.url("/here"), { headers, overwrite: false });
    const found = heard.requests.findLast(({ method }) => method === "PUT")!.headers;
    expect(found.authorization).toBe(heard === origin ? "Bearer x" : undefined);
    expect(found["if-none-match"]).toBe("*");
    expectSame(heard.get("/there")!, expected.get(image)!);
  }
  await other.close();
});

test.each([
  ["that goes in a circle", { status: 307, location: "/round" }, 6],
  ["that would make it a GET", { status: 302, location: "/there" }, 1],
  ["to a file URL", { status: 307, location: "file:///etc/passwd" }, 1],
  ["without a location", { status: 308 }, 1],
])("does not follow a redirect of a PUT %s", async (_, fault, count) => {
  origin.faults = () => fault;
  const error = await refusalOf(createSnapshot(small, origin.url("/round")), "ERR_TARGET");
  expect([error.status, origin.requests.length]).toEqual([fault.status, count]);
});

test("requires a trusted certificate, and does not follow a redirect out of TLS", async () => {
  const tls = makeCertificate();
  const safe = await startOrigin({ tls });
  const start = performance.now();
  const untrusted = createSnapshot(small, safe.url("/x"), { retries: 50 });
  const error = await refusalOf(untrusted, "ERR_TARGET");
  expect(error.message).toContain("TLS failed: self");
  expect(performance.now() - start).toBeLessThan(MAX_ABORT_TIME);
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  await createSnapshot(image, safe.url("/x"));
  expectSame(safe.get("/x")!, expected.get(image)!);
  safe.faults = () => ({ status: 307, location: origin.url("/plain").href });
  await refusalOf(createSnapshot(small, safe.url("/x")), "ERR_TARGET");
  expect(origin.get("/plain")).toBeUndefined();
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", undefined);
  await safe.close();
});

test.each([0, 30, 60, 100, 150, 250])(
  "leaves nothing on a server if it is aborted after %i ms",
  async (delay) => {
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
    expect(performance.now() - start).toBeLessThan(MAX_ABORT_TIME);
    expect(temporaryFiles()).toEqual([]);
    await sleep(50);
    expect(origin.get(target.pathname)).toBeUndefined();
  },
);

test("completes a PUT that is aborted after its last byte", async () => {
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

test("refuses headers that are not valid, without repeating them", async () => {
  const headers = { "x-secret": "not\na header" };
  const error = await refusalOf(
    createSnapshot(small, origin.url("/x"), { headers }),
    "ERR_ARGUMENT",
  );
  expect(textsIn(error)).not.toContain("a header");
  expect(temporaryFiles()).toEqual([]);
});

/** How many bytes of a PUT a server reads before it refuses it. */
const READ = 2 ** 18;

/** The most that a client sends before it waits for a response, headers included. */
const FIRST = MIB;

let refusing: Server;
let received: number[] = [];

beforeAll(async () => {
  refusing = createServer((socket) => void refuse(socket));
  refusing.listen(0, "127.0.0.1");
  await once(refusing, "listening");
});

afterAll(async () => {
  refusing.close();
  await once(refusing, "close");
});

/** Refuses an upload. A client that keeps sending loses the response, since the connection is reset. */
async function refuse(socket: Socket): Promise<void> {
  const number = received.push(0) - 1;
  socket.on("error", () => {});
  socket.once("data", () => socket.write("HTTP/1.1 100 Continue\r\n\r\n"));
  socket.on("data", ({ length }) => {
    received[number]! += length;
  });
  // The first attempt does not wait for a response, and sends as fast as the machine can.
  const awaited = number === 0 ? FIRST + 1 : READ;
  while (received[number]! < awaited && !socket.destroyed) await sleep(1);
  await sleep(100);
  if (received[number]! > FIRST) socket.resetAndDestroy();
  else socket.end("HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
}

const url = () => `http://127.0.0.1:${(refusing.address() as AddressInfo).port}/x`;

test("reports the status of a refused PUT after a retry", async () => {
  received = [];
  const error = await refusalOf(createSnapshot(image, url()), "ERR_TARGET");
  expect(error.status).toBe(403);
  expect(received.length).toBe(2);
});

test("reports a lost connection for a refused PUT without retries", async () => {
  received = [];
  const work = createSnapshot(image, url(), { retries: 0 });
  const error = await refusalOf(work, "ERR_TARGET");
  expect(error.status).toBeUndefined();
  expect(error.message).toMatch(
    /^cannot write .*: (the connection was closed|.*ECONNRESET|.*EPIPE)/,
  );
  expect(received.length).toBe(1);
});

test("aborts while it waits for a refusal", async () => {
  received = [];
  const controller = new AbortController();
  const reason = new Error("the caller's own");
  const work = createSnapshot(image, url(), { signal: controller.signal });
  const ended = expect(work).rejects.toBe(reason);
  await vi.waitUntil(() => (received[1] ?? 0) >= READ, { timeout: 10_000, interval: 1 });
  controller.abort(reason);
  await ended;
  expect(received.length).toBe(2);
});
