import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";

import { type Fault, type FaultKind, randomFaults } from "./fault.mjs";
import { type OriginOptions, startOrigin } from "./origin.mjs";
import { seededRandom } from "./random.mjs";

const folder = mkdtempSync(join(tmpdir(), "hedgerow-origin-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** More than is read at a time, and no multiple of it. */
const random = seededRandom(1);
const content = Buffer.from(Uint8Array.from({ length: 600_001 }, () => random() * 256));
const file = join(folder, "disk");
writeFileSync(file, content);

async function origin(options: OriginOptions = {}) {
  const started = await startOrigin({ files: { "/disk": content, "/file": file }, ...options });
  onTestFinished(() => started.close());
  return started;
}

/** An origin with one fault in every answer. */
const faulty = (fault: Fault) => origin({ faults: () => fault });

interface Received {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
  /** What the connection ended with, if not with a whole answer. */
  readonly error: string | undefined;
}

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: Uint8Array;
  /** Whether no more is to come, when so many bytes came: then, a moment is waited for what comes all the same. */
  readonly until?: (received: number) => boolean;
}

/** Sends one request over a connection of its own. */
function ask(
  url: URL,
  { method = "GET", headers = {}, body, until = () => false }: Asked = {},
): Promise<Received> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let answer: IncomingMessage | undefined;
    const done = (error?: string) => {
      clearInterval(timer);
      const { statusCode: status, headers = {} } = answer ?? {};
      resolve({ status, headers, body: Buffer.concat(chunks), error });
      request.destroy();
    };
    let moments = 0;
    const timer = setInterval(() => {
      const received = chunks.reduce((sum, { length }) => sum + length, 0);
      if (until(received)) moments += 1;
      if (moments > 10) done("nothing comes");
    }, 5);
    const request = requestHttp(url, { method, headers, agent: false }, (response) => {
      answer = response;
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", (error: NodeJS.ErrnoException) => done(error.code));
      response.on("end", () => done());
    });
    request.on("error", (error: NodeJS.ErrnoException) => done(error.code));
    request.end(body);
  });
}

const range = (value: string) => ({ headers: { Range: `bytes=${value}` } });

test.each(["/disk", "/file"])("%s is served whole, and in parts", async (path) => {
  const one = await origin();
  const url = one.url(path);
  const whole = await ask(url);
  expect([whole.status, whole.headers["accept-ranges"]]).toEqual([200, "bytes"]);
  expect(whole.body.equals(content)).toBe(true);
  const { etag = "" } = whole.headers;
  expect(etag).toMatch(/^"[^"]+"$/);
  const parts: [string, number, number][] = [
    ["1000-299999", 1000, 300_000],
    ["0-0", 0, 1],
    ["600000-", 600_000, 600_001],
    ["-5", 599_996, 600_001],
    ["5-999999", 5, 600_001],
  ];
  for (const [asked, start, end] of parts) {
    const part = await ask(url, range(asked));
    expect(part.status, asked).toBe(206);
    expect(part.headers["content-range"]).toBe(`bytes ${start}-${end - 1}/600001`);
    expect(part.headers.etag).toBe(etag);
    expect(part.body.equals(content.subarray(start, end)), asked).toBe(true);
  }
  expect(one.requests[1]).toMatchObject({
    ...{ number: 2, connection: 2, method: "GET", path, status: 206, bytesSent: 299_000 },
    ...{ range: { start: 1000, end: 300_000 }, aborted: false },
  });
  for (const outside of ["600001-", "-0"]) {
    const { status, headers } = await ask(url, range(outside));
    expect([status, headers["content-range"]]).toEqual([416, "bytes */600001"]);
  }
  expect((await ask(url, range("7-3"))).status).toBe(200);
  const head = await ask(url, { method: "HEAD" });
  expect([head.status, head.headers["content-length"]]).toEqual([200, "600001"]);
  expect(head.headers.etag).toBe(etag);
  expect((await ask(url, { headers: { "If-Match": etag } })).status).toBe(200);
  expect((await ask(url, { headers: { "If-Match": '"other"' } })).status).toBe(412);
  expect((await ask(one.url("/nothing"))).status).toBe(404);
  expect((await ask(url, { method: "POST" })).status).toBe(405);
  expect(one.bytesSent).toBe(one.requests.reduce((sum, { bytesSent }) => sum + bytesSent, 0));
});

test.each([{}, { folder }])("what is uploaded appears when it is whole: %o", async (options) => {
  const one = await origin(options);
  const url = one.url("/new");
  const method = "PUT";
  const headers = { "Content-Length": "1000" };
  const isTorn = () => one.bytesReceived === 10;
  const torn = await ask(url, { method, headers, body: content.subarray(0, 10), until: isTorn });
  expect(torn.error).toBe("nothing comes");
  expect((await ask(url)).status).toBe(404);
  const onlyNew = { "If-None-Match": "*" };
  expect((await ask(url, { method, body: content, headers: onlyNew })).status).toBe(201);
  expect((await ask(url, { method, body: content, headers: onlyNew })).status).toBe(412);
  const { status, headers: told } = await ask(url, { method, body: content });
  expect(status).toBe(200);
  const { headers: found, body } = await ask(url);
  expect(found.etag).toBe(told.etag);
  expect(body.equals(content)).toBe(true);
  expect(one.get("/new")?.equals(content)).toBe(true);
  expect(one.bytesReceived).toBe(3 * content.length + 10);
  expect(readdirSync(folder)).toEqual(["disk"]);
});

test("an upload is refused, cut, or no longer read", async () => {
  const faults: Record<string, Fault> = {
    "/refused": { status: 503, retryAfter: 7 },
    "/cut": { cutAfter: 100_000 },
    "/stalled": { stallAfter: 100_000 },
  };
  const one = await origin({ faults: ({ path }) => faults[path] });
  const put = (path: string, until?: () => boolean) =>
    ask(one.url(path), { method: "PUT", body: content, ...(until && { until }) });
  const refused = await put("/refused");
  expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "7"]);
  expect((await put("/cut")).error).toMatch(/ECONNRESET|EPIPE/);
  const isStalled = () => (one.requests[2]?.bytesReceived ?? 0) >= 100_000;
  expect((await put("/stalled", isStalled)).error).toBe("nothing comes");
  for (const path of Object.keys(faults)) expect(one.get(path), path).toBeUndefined();
});

test("a transfer takes at least the time that its rate and its delay make", async () => {
  const bytesPerSecond = 2_000_000;
  const one = await origin({ conditions: { bytesPerSecond, firstByte: 100 } });
  const begin = performance.now();
  const both = await Promise.all([ask(one.url("/disk")), ask(one.url("/file"))]);
  // Timers may be early by less than a millisecond.
  expect(performance.now() - begin).toBeGreaterThan(99 + (1000 * content.length) / bytesPerSecond);
  for (const { body } of both) expect(body.equals(content)).toBe(true);
  one.conditions = {};
  one.faults = () => ({ bytesPerSecond: 100_000, firstByte: 50 });
  const next = performance.now();
  expect((await ask(one.url("/disk"), range("0-9999"))).body).toHaveLength(10_000);
  expect(performance.now() - next).toBeGreaterThan(149);
});

test("connections share a rate equally", async () => {
  const sharedBytesPerSecond = 2_000_000;
  const one = await origin({ conditions: { sharedBytesPerSecond } });
  const begin = performance.now();
  const ends = ["/disk", "/file"].map(async (path) => {
    expect((await ask(one.url(path))).body.equals(content)).toBe(true);
    return performance.now() - begin;
  });
  const [first, second] = (await Promise.all(ends)).toSorted((a, b) => a - b);
  const together = (2 * 1000 * content.length) / sharedBytesPerSecond;
  expect(second).toBeGreaterThan(together - 1);
  expect(first).toBeGreaterThan(0.8 * together);
});

test("an answer is cut, reset, stalled, or never comes", async () => {
  const at = 300_000;
  const cut = await ask((await faulty({ cutAfter: at })).url("/disk"));
  expect([cut.status, cut.error]).toEqual([200, "ECONNRESET"]);
  expect(cut.body.equals(content.subarray(0, at))).toBe(true);
  const head = await ask((await faulty({ cutAfter: 0 })).url("/file"));
  expect([head.status, head.body.length, head.error]).toEqual([200, 0, "ECONNRESET"]);
  const reset = await ask((await faulty({ cutAfter: at, reset: true })).url("/disk"));
  expect(reset.error).toBe("ECONNRESET");
  const stalling = await faulty({ stallAfter: at });
  const stalled = await ask(stalling.url("/file"), { until: (received) => received >= at });
  expect([stalled.body.length, stalled.error]).toEqual([at, "nothing comes"]);
  await expect.poll(() => stalling.requests[0]?.aborted, { timeout: 10_000 }).toBe(true);
  const silence = await faulty({ noAnswer: true });
  const silent = await ask(silence.url("/disk"), { until: () => silence.requestCount > 0 });
  expect([silent.status, silent.error]).toEqual([undefined, "nothing comes"]);
});

test("a response has the status, range, body or ETag that its fault sets", async () => {
  /** Asks for a part of an origin with one fault. */
  async function part(fault: Fault, ifMatch = "*") {
    const one = await faulty(fault);
    return ask(one.url("/file"), { headers: { Range: "bytes=10-19", "If-Match": ifMatch } });
  }
  const busy = await part({ status: 429, retryAfter: 3, content: Buffer.from("why") });
  expect([busy.status, busy.headers["retry-after"], `${busy.body}`]).toEqual([429, "3", "why"]);
  const moved = await part({ location: "/other" });
  expect([moved.status, moved.headers.location]).toEqual([302, "/other"]);
  expect((await part({ status: 308, location: "/other" })).status).toBe(308);
  const whole = await part({ ignoreRange: true });
  expect([whole.status, whole.body.length]).toEqual([200, 600_001]);
  const contentRange = async (lie: "none" | "shifted" | "wrong total") =>
    (await part({ contentRange: lie })).headers["content-range"];
  expect(await contentRange("none")).toBeUndefined();
  expect(await contentRange("shifted")).toBe("bytes 11-20/600002");
  expect(await contentRange("wrong total")).toBe("bytes 10-19/600002");
  const flipped = await part({ flipBit: 3 });
  const differing = [...flipped.body].map((byte, index) => byte ^ content[10 + index]!);
  expect(differing).toEqual([0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  const short = await part({ extraBytes: -4 });
  expect([short.body.length, short.error]).toEqual([6, "ECONNRESET"]);
  // The extra bytes are parsed as the start of the next response.
  expect((await part({ extraBytes: 4 })).error).toMatch(/^HPE_/);
  expect((await part({ etag: null })).headers.etag).toBeUndefined();
  expect((await part({ etag: 'W/"weak"' })).headers.etag).toBe('W/"weak"');
  expect((await part({ etag: 'W/"weak"' }, 'W/"weak"')).status).toBe(412);
  const changed = await part({ etag: '"new"', content: Buffer.alloc(15, 1) }, '"new"');
  expect([changed.status, changed.headers["content-range"]]).toEqual([206, "bytes 10-14/15"]);
  expect((await part({ etag: '"new"' }, '"old"')).status).toBe(412);
  expect((await part({ etag: '"new"', ignoreIfMatch: true }, '"old"')).status).toBe(206);
});

test("connections are refused for a time", async () => {
  const one = await origin();
  // Longer than this process is held up.
  await one.refuse(2_000);
  expect((await ask(one.url("/disk"))).error).toBe("ECONNREFUSED");
  await expect
    .poll(async () => (await ask(one.url("/disk"))).status, { timeout: 10_000 })
    .toBe(200);
});

test("random faults are the same for the same seed, and strike their share", () => {
  const kinds: FaultKind[] = ["cut", "reset", "stall", "short", "flip", "late", "shifted", "busy"];
  const request = { number: 1, method: "GET", path: "/", headers: {}, range: undefined };
  const faultsOf = (seed: number) => {
    const faults = randomFaults(seededRandom(seed), { share: 0.25, kinds });
    return Array.from({ length: 1000 }, () => faults({ ...request, length: 100 }));
  };
  expect(faultsOf(7)).toEqual(faultsOf(7));
  expect(faultsOf(7)).not.toEqual(faultsOf(8));
  const struck = faultsOf(7).filter((fault) => fault !== undefined);
  expect(struck.length).toBeGreaterThan(200);
  expect(struck.length).toBeLessThan(300);
  expect(new Set(struck.flatMap(Object.keys)).size).toBeGreaterThan(6);
});
