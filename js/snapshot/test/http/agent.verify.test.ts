/** Proxies of the environment, with a real one: tinyproxy. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { createSnapshot } from "@hedgerow/snapshot";
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from "vitest";

import { makeCertificate } from "../../../../tests/origin/certificate.mjs";
import type { Origin } from "../../../../tests/origin/origin.mjs";
import { type S3Server, startS3 } from "../../../../tests/support/s3/server.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise } from "../../../../tests/support/snapshots/image.js";
import { startTinyproxy, type Tinyproxy } from "../../../../tests/support/tinyproxy.js";
import { trials } from "../../../../tests/support/trials.js";
import { type Job, type Outcome, run, sharedProcess } from "../support/job.js";
import { expectNoConnections, originOf } from "../support/remote.js";

/** Another name of this machine, which is no loopback address: on Linux, it connects to 127.0.0.1. */
const HERE = "0.0.0.0";

const [USER, PASSWORD] = ["pr0xy-user", "pr0xy-pa55"];

const path = temporaryFolder();
const bytes = noise("image", 2 ** 20);
const digest = sha256(bytes);
/** For uploads of two parts. */
const large = noise("large", 6 * 2 ** 20);
const tls = makeCertificate(HERE);
/** The certificate of proxies, for `localhost` and 127.0.0.1. */
const proxyTls = makeCertificate();
const OPTIONS = { workers: 1, connections: 3, partSize: 2 ** 17, retries: 1 };

function sha256(data: Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}

let proxy: Tinyproxy;

beforeAll(async () => {
  writeFileSync(path("image"), bytes);
  writeFileSync(path("large"), large);
  writeFileSync(path("cert.pem"), tls.cert + proxyTls.cert);
  await createSnapshot(path("image"), path("image.vhs"), { pieceSize: 2 ** 14 });
  proxy = await startTinyproxy();
});
afterAll(() => proxy.close());

beforeEach(() => {
  rmSync(path("folder"), { recursive: true, force: true });
  mkdirSync(path("folder"));
});

/** The URL of an origin by a name that is no loopback address. */
function urlOf(origin: Origin, pathname = "/a.vhs"): URL {
  const url = origin.url(pathname);
  url.hostname = HERE;
  return url;
}

const restoreJob = (source: URL | string, options: Job["options"] = {}): Job => ({
  call: "restoreSnapshot",
  source: String(source),
  target: path("folder", "target"),
  options: { ...OPTIONS, ...options },
});

const createJob = (target: URL | string, options: Job["options"] = {}): Job => ({
  call: "createSnapshot",
  source: path("image"),
  target: String(target),
  options: { retries: 1, level: 1, ...options },
});

const NO_PROXIES = Object.fromEntries(
  ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY"].flatMap((name) => [
    [name, ""],
    [name.toLowerCase(), ""],
  ]),
);

const share = sharedProcess({ env: { NODE_EXTRA_CA_CERTS: path("cert.pem") } });

/** Runs a job with these variables, without any proxy of the environment of the tests. */
function runWith(env: Readonly<Record<string, string>>, job: Job): Promise<Outcome> {
  return share(job, { ...NO_PROXIES, ...env });
}

/** Runs work, and returns the request lines that the proxy received meanwhile. */
async function throughProxy(work: () => Promise<Outcome>): Promise<string[]> {
  const before = proxy.requests().length;
  expect(await work()).toMatchObject({ error: null, running: 0 });
  return proxy.requests().slice(before);
}

const snapshotBytes = () => readFileSync(path("image.vhs"));

describe.each(["http", "https"] as const)("over %s", (scheme) => {
  const serve = () => originOf({ "/a.vhs": snapshotBytes() }, scheme === "https" ? { tls } : {});

  /** Returns half of some cases in `npm test`, and the other half over the other scheme. */
  const halfOf = <T>(cases: readonly T[]) =>
    cases.filter((_, index) => (index + scheme.length) % trials({ few: 2, all: 1 }) === 0);

  test(`restores a snapshot over ${scheme} through the proxy`, async () => {
    const origin = await serve();
    for (const name of halfOf([`${scheme}_proxy`, `${scheme.toUpperCase()}_PROXY`])) {
      const lines = await throughProxy(async () => {
        const outcome = await runWith({ [name]: proxy.url.href }, restoreJob(urlOf(origin)));
        expect(outcome.target).toBe(digest);
        return outcome;
      });
      const { host, port } = urlOf(origin);
      const line =
        scheme === "https"
          ? `CONNECT ${HERE}:${port} HTTP/1.1`
          : `GET http://${host}/a.vhs HTTP/1.1`;
      expect(lines.length).toBeGreaterThan(1);
      expect(new Set(lines)).toEqual(new Set([line]));
    }
    // The origin must never see who asks the proxy.
    for (const { headers } of origin.requests) {
      expect(headers["proxy-authorization"]).toBeUndefined();
      expect(headers.host).toBe(urlOf(origin).host);
    }
    await expectNoConnections(origin);
  });

  test(`uploads a snapshot over ${scheme} through the proxy`, async () => {
    const origin = await serve();
    const env = { [`${scheme}_proxy`]: proxy.url.href };
    const lines = await throughProxy(() => runWith(env, createJob(urlOf(origin, "/new.vhs"))));
    expect(lines).toHaveLength(1);
    expect(origin.get("/new.vhs")?.length).toBeGreaterThan(bytes.length);
    await expectNoConnections(origin);
  });

  test(`bypasses the proxy for hosts of NO_PROXY over ${scheme}`, async () => {
    const origin = await serve();
    const { port } = urlOf(origin);
    for (const noProxy of halfOf(["*", HERE, `other.example,${HERE}:${port}`, ".0.0"])) {
      const env = { [`${scheme}_proxy`]: "http://127.0.0.1:1", NO_PROXY: noProxy };
      const outcome = await runWith(env, restoreJob(urlOf(origin)));
      expect(outcome, noProxy).toMatchObject({ error: null, target: digest });
    }
    const env = { [`${scheme}_proxy`]: "http://127.0.0.1:1", NO_PROXY: `${HERE}:1` };
    expect((await runWith(env, restoreJob(urlOf(origin)))).error?.code).toBe("ERR_SOURCE");
  });

  test(`bypasses the proxy for loopback addresses over ${scheme}`, async () => {
    const origin = await serve();
    const env = { [`${scheme}_proxy`]: "http://127.0.0.1:1" };
    for (const host of halfOf(["127.0.0.1", "localhost"])) {
      const url = origin.url("/a.vhs");
      url.hostname = host;
      expect(await runWith(env, restoreJob(url))).toMatchObject({ error: null, target: digest });
    }
  });

  test(`names an unreachable proxy without its credentials over ${scheme}`, async () => {
    const origin = await serve();
    const env = { [`${scheme}_proxy`]: `http://${USER}:${PASSWORD}@127.0.0.1:1` };
    for (const [job, code] of [
      [restoreJob(urlOf(origin)), "ERR_SOURCE"],
      [createJob(urlOf(origin, "/new.vhs")), "ERR_TARGET"],
    ] as const) {
      const { error, names } = await runWith(env, job);
      expect(error).toMatchObject({ code, causeCode: "ECONNREFUSED" });
      expect(error?.message).toContain("proxy http://127.0.0.1:1: connect ECONNREFUSED");
      expect(JSON.stringify(error)).not.toMatch(/pr0xy/);
      expect(names).toEqual([]);
    }
    expect(origin.requestCount).toBe(0);
  });

  test(`authenticates to the proxy, and reports wrong credentials over ${scheme}`, async () => {
    const origin = await serve();
    const strict = await startTinyproxy({ user: [USER, PASSWORD] });
    onTestFinished(() => strict.close());
    const envOf = (password: string) => {
      const url = new URL(strict.url);
      [url.username, url.password] = [USER, password];
      return { [`${scheme}_proxy`]: url.href };
    };
    const outcome = await runWith(envOf(PASSWORD), restoreJob(urlOf(origin)));
    expect(outcome).toMatchObject({ error: null, target: digest });
    for (const { headers } of origin.requests) {
      expect(headers["proxy-authorization"]).toBeUndefined();
    }
    for (const [job, code] of [
      [restoreJob(urlOf(origin)), "ERR_SOURCE"],
      [createJob(urlOf(origin, "/new.vhs")), "ERR_TARGET"],
    ] as const) {
      const { error } = await runWith(envOf("wr0ng"), job);
      // tinyproxy says 401 where there are wrong credentials, and 407 where there are none.
      expect(error?.code).toBe(code);
      expect([401, 407]).toContain(error?.status);
      expect(error?.message).toContain(`proxy ${strict.url.origin}`);
      expect(JSON.stringify(error)).not.toMatch(/pr0xy|wr0ng|Basic/);
    }
    const { error } = await runWith(
      { [`${scheme}_proxy`]: strict.url.href },
      restoreJob(urlOf(origin)),
    );
    expect(error).toMatchObject({ code: "ERR_SOURCE", status: 407 });
    expect(error?.message).toContain(`proxy ${strict.url.origin}`);
  });

  test(`reports that the proxy refuses a host over ${scheme}`, async () => {
    const origin = await serve();
    const strict = await startTinyproxy({ refused: "^0\\.0\\.0\\.0$" });
    onTestFinished(() => strict.close());
    const env = { [`${scheme}_proxy`]: strict.url.href };
    const { error } = await runWith(env, restoreJob(urlOf(origin)));
    expect(error).toMatchObject({ code: "ERR_SOURCE", status: 403 });
    expect(error?.message).toContain(`proxy ${strict.url.origin}`);
    expect(origin.requestCount).toBe(0);
  });
});

describe("an object store", () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startS3();
  });
  afterAll(() => server.close());

  test("uploads and restores a snapshot of S3 through the proxy", async () => {
    const endpoint = new URL(server.endpoint);
    endpoint.hostname = HERE;
    const s3 = { endpoint: endpoint.href, region: server.region, credentials: server.credentials };
    const env = { http_proxy: proxy.url.href };
    const createLarge = (...args: Parameters<typeof createJob>) => {
      return { ...createJob(...args), source: path("large") };
    };
    const url = `s3://${server.bucket}/a b.vhs`;
    const put = await throughProxy(() =>
      runWith(env, createLarge(url, { s3, partSize: 5 * 2 ** 20, overwrite: false })),
    );
    const create = `POST ${endpoint.origin}/${server.bucket}/a%20b.vhs?uploads`;
    expect(put.filter((line) => line.startsWith(create))).toHaveLength(1);
    expect(put.length).toBeGreaterThan(2);
    const got = await throughProxy(async () => {
      const outcome = await runWith(env, restoreJob(url, { s3 }));
      expect(outcome.target).toBe(sha256(large));
      return outcome;
    });
    expect(got.length).toBeGreaterThan(1);
    const refused = { http_proxy: "http://us3r:pa55@127.0.0.1:1" };
    const { error } = await runWith(refused, createLarge(url, { s3 }));
    expect(error).toMatchObject({ code: "ERR_TARGET", causeCode: "ECONNREFUSED" });
    expect(error?.message).toContain("proxy http://127.0.0.1:1");
    expect(JSON.stringify(error)).not.toMatch(/us3r|pa55/);
    const strict = await startTinyproxy({ user: [USER, PASSWORD] });
    onTestFinished(() => strict.close());
    // An upload in parts begins with a request without a body, so that the response can be read.
    const parts = createLarge(url, { s3, partSize: 5 * 2 ** 20 });
    const without = await runWith({ http_proxy: strict.url.href }, parts);
    expect(without.error).toMatchObject({ code: "ERR_TARGET", status: 407 });
    expect(without.error?.message).toContain(`proxy ${strict.url.origin}`);
    const direct = { http_proxy: "http://127.0.0.1:1", no_proxy: HERE };
    expect(await runWith(direct, restoreJob(url, { s3 }))).toMatchObject({ target: sha256(large) });
  });
});

test("an abort ends an S3 upload that waits for its proxy", async () => {
  const holding = createServer();
  const isConnecting = new Promise<void>((resolve) => holding.once("connect", () => resolve()));
  holding.listen(0, "127.0.0.1");
  await new Promise((resolve) => holding.once("listening", resolve));
  onTestFinished(() => void holding.close());
  vi.stubEnv("HTTPS_PROXY", `http://127.0.0.1:${(holding.address() as AddressInfo).port}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const controller = new AbortController();
  const credentials = { accessKeyId: "AKIA", secretAccessKey: "secret" };
  const s3 = { endpoint: `https://${HERE}:9`, region: "us-east-1", credentials };
  const upload = createSnapshot(path("image"), "s3://bucket/key.vhs", {
    ...{ s3, retries: 0, timeouts: { connect: 60_000 } },
    signal: controller.signal,
  });
  await isConnecting;
  controller.abort();
  // The proxy never responds: only the abort can end it.
  await expect(upload).rejects.toBe(controller.signal.reason);
});

test("never takes a proxy's response to CONNECT for one of the server", async () => {
  const spoof = createServer();
  const connects: string[] = [];
  spoof.on("connect", (request, socket) => {
    socket.on("error", () => {});
    connects.push(request.url ?? "");
    const body = snapshotBytes();
    socket.write(`HTTP/1.1 302 Found\r\nlocation: https://${HERE}:1/\r\ncontent-length: 0\r\n\r\n`);
    socket.end(body);
  });
  spoof.listen(0, "127.0.0.1");
  await new Promise((resolve) => spoof.once("listening", resolve));
  onTestFinished(() => void spoof.close());
  const { port } = spoof.address() as AddressInfo;
  const env = { https_proxy: `http://127.0.0.1:${port}` };
  const { error } = await runWith(env, restoreJob(`https://${HERE}:9/a.vhs`, { retries: 0 }));
  expect(error?.message).toContain(
    `proxy http://127.0.0.1:${port}: redirect not followed (HTTP 302)`,
  );
  expect(new Set(connects)).toEqual(new Set([`${HERE}:9`]));
});

test("says that a proxy sent bytes before the tunnel was open", async () => {
  const early = createTcpServer((socket) => {
    socket.on("error", () => {});
    // One write, so that the bytes arrive with the response.
    socket.once("data", () => socket.write("HTTP/1.1 200 Connection established\r\n\r\nearly"));
  });
  early.listen(0, "127.0.0.1");
  await new Promise((resolve) => early.once("listening", resolve));
  onTestFinished(() => void early.close());
  const { port } = early.address() as AddressInfo;
  const env = { https_proxy: `http://127.0.0.1:${port}` };
  const { error } = await runWith(env, restoreJob(`https://${HERE}:9/a.vhs`));
  expect(error?.code).toBe("ERR_SOURCE");
  expect(error?.message).toMatch(
    `proxy http://127.0.0.1:${port}: sent bytes before the tunnel was open`,
  );
  expect(error?.message).not.toContain("refused");
});

test.each([502, 503, 504])(
  "names the proxy in the error of an S3 request that it answers with %i",
  async (status) => {
    const failing = createServer((request, response) => {
      request.resume().on("end", () => response.writeHead(status).end("<html>unavailable</html>"));
    });
    failing.listen(0, "127.0.0.1");
    await new Promise((resolve) => failing.once("listening", resolve));
    onTestFinished(() => {
      failing.closeAllConnections();
      failing.close();
    });
    const { port } = failing.address() as AddressInfo;
    const credentials = { accessKeyId: "AKIA", secretAccessKey: "secret" };
    const s3 = { endpoint: `http://${HERE}:9`, region: "us-east-1", credentials };
    const env = { http_proxy: `http://${USER}:${PASSWORD}@127.0.0.1:${port}` };
    const upload = createJob("s3://bucket/key.vhs", { s3, retries: 0, partSize: 5 * 2 ** 20 });
    const download = restoreJob("s3://bucket/key.vhs", { s3, retries: 0 });
    const jobs = [
      [upload, "ERR_TARGET"],
      [download, "ERR_SOURCE"],
    ] as const;
    // `npm test` tries one of them with each status.
    const tried = jobs.filter((_, at) => (at + status) % trials({ few: 2, all: 1 }) === 0);
    for (const [job, code] of tried) {
      const { error } = await runWith(env, job);
      expect(error).toMatchObject({ code, status });
      expect(error?.message).toContain(`through proxy http://127.0.0.1:${port}`);
      expect(JSON.stringify(error)).not.toMatch(/pr0xy/);
    }
  },
);

test("gives up a proxy that does not respond, or a server behind it that does not", async () => {
  const sockets: Socket[] = [];
  for (const response of ["", "HTTP/1.1 200 Connection established\r\n\r\n"]) {
    const silent = createTcpServer((socket) => {
      sockets.push(socket.on("error", () => {}));
      socket.once("data", () => socket.write(response));
    });
    silent.listen(0, "127.0.0.1");
    await new Promise((resolve) => silent.once("listening", resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      silent.close();
    });
    const { port } = silent.address() as AddressInfo;
    const timeouts = { connect: 500 };
    const job = restoreJob(`https://${HERE}:9/a.vhs`, { retries: 1, timeouts });
    // The process ends by itself, though the other end keeps the connections open.
    const env = { ...NO_PROXIES, https_proxy: `http://127.0.0.1:${port}` };
    const { error } = await run(job, { env });
    expect(error?.code).toBe("ERR_SOURCE");
    const name = response === "" ? `proxy http://127.0.0.1:${port}: ` : "";
    expect(error?.message).toContain(`${name}no connection within 500 ms (2 times in a row)`);
  }
});

test("reports a proxy of another scheme without its URL", async () => {
  const env = { http_proxy: `socks5://${USER}:${PASSWORD}@127.0.0.1:1` };
  const { error } = await runWith(env, restoreJob(`http://${HERE}:9/a.vhs`));
  expect(error?.message).toContain("HTTP_PROXY: expected an http: or https: URL of a proxy");
  expect(JSON.stringify(error)).not.toMatch(/pr0xy/);
});

/** Starts a proxy that speaks TLS. Collects the server names that clients ask for. */
async function startTlsProxy() {
  const names: unknown[] = [];
  const secure = createHttpsServer(proxyTls, (request, response) => {
    names.push((request.socket as TLSSocket).servername);
    const { hostname, port } = new URL(request.url ?? "");
    const upstream = connect(Number(port), hostname, () => {
      const fields = request.rawHeaders.map((text, index) => `${text}${index % 2 ? "\r\n" : ": "}`);
      upstream.write(`GET ${new URL(request.url ?? "").pathname} HTTP/1.1\r\n`);
      upstream.write(
        `${fields.join("").replace(/^connection:.*\r\n/im, "")}connection: close\r\n\r\n`,
      );
    });
    upstream.pipe(response.socket as Socket);
  });
  secure.on("connect", (request, socket: TLSSocket) => {
    names.push(socket.servername);
    const [host = "", port] = (request.url ?? "").split(":");
    const upstream = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    for (const one of [upstream, socket]) one.on("error", () => {});
  });
  secure.listen(0, "127.0.0.1");
  await new Promise((resolve) => secure.once("listening", resolve));
  onTestFinished(() => {
    secure.closeAllConnections();
    secure.close();
  });
  return { port: (secure.address() as AddressInfo).port, names };
}

describe("a proxy with TLS", () => {
  const ways = [
    ["http", "localhost"],
    ["http", "127.0.0.1"],
    ["https", "127.0.0.1"],
    ["https", "localhost"],
  ] as const;

  // `npm test` tries each scheme, and each name.
  test.each(ways.filter((_, index) => index % trials({ few: 2, all: 1 }) === 0))(
    "restores over %s through https://%s, verified by its own name",
    async (scheme, host) => {
      const origin = await originOf(
        { "/a.vhs": snapshotBytes() },
        scheme === "https" ? { tls } : {},
      );
      const { port, names } = await startTlsProxy();
      const env = {
        [`${scheme}_proxy`]: `https://${host}:${port}`,
      };
      const { error, target } = await runWith(env, restoreJob(urlOf(origin), { retries: 0 }));
      expect({ error, target }).toEqual({ error: null, target: digest });
      expect(new Set(names)).toEqual(new Set([host === "localhost" ? host : false]));
    },
  );
});

test("ignores ALL_PROXY", async () => {
  const origin = await originOf({ "/a.vhs": snapshotBytes() });
  const env = { ALL_PROXY: "socks5://127.0.0.1:1" };
  expect(await runWith(env, restoreJob(urlOf(origin)))).toMatchObject({ error: null });
});
