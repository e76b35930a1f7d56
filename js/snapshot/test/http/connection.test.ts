/** How connections are kept, used again and closed. */
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { pipeline } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { TLSSocket } from "node:tls";
import { expect, onTestFinished, test, vi } from "vitest";

import { makeCertificate } from "../../../../tests/origin/certificate.mjs";
import { rejectionOf } from "../../../../tests/support/assert.js";
import type { Download } from "../../src/http/download.js";
import { HttpClient } from "../../src/http/get.js";
import { transferOf } from "../../src/http/transfer.js";

/** What a server sends in response to a request, in these pieces, which arrive one by one. */
type Script = readonly (string | "close")[];

interface Scripted {
  readonly client: HttpClient;
  /** The requests of each connection, in the order of connections. */
  readonly requests: string[][];
  readonly sockets: Socket[];
}

/** Starts a server that answers each request with the next script, and a client of it. */
async function serve(...scripts: Script[]): Promise<Scripted> {
  const [requests, sockets]: [string[][], Socket[]] = [[], []];
  const server = createServer({ noDelay: true }, (socket) => {
    const own: string[] = [];
    requests.push(own);
    sockets.push(socket);
    socket.on("error", () => {});
    socket.on("data", async (bytes) => {
      own.push(String(bytes));
      for (const piece of scripts.shift() ?? []) {
        if (piece === "close") socket.end();
        else socket.write(piece, "latin1");
        await sleep(5);
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const { timeouts } = transferOf({});
  const client = new HttpClient({ url: `http://127.0.0.1:${port}/a?b`, headers: {} }, timeouts);
  onTestFinished(() => {
    client.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { client, requests, sockets };
}

/** Returns the status and the body of a response. */
async function read(download: Download): Promise<string> {
  return download.response(async ({ statusCode }) => {
    let body = `${statusCode} `;
    await download.body((bytes) => {
      body += bytes.toString("latin1");
    });
    return body;
  });
}

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody";

test("sends one request after another over one connection", async () => {
  const chunked = "HTTP/1.1 206 Partial Content\r\nTransfer-Encoding: chunked\r\n\r\n";
  const { client, requests } = await serve(
    [OK],
    [...`HTTP/1.1 100 Continue\r\n\r\n${OK}`],
    [`${chunked}3\r\nabc\r\n2;x=y\r\nde`, "\r\n0\r\nX-Trailer: 1\r\n\r\n"],
    ["HTTP/1.1 204 No Content\r\n\r\n"],
    ["HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 0\r\n\r\n"],
    [OK],
  );
  const bodies: string[] = [];
  for (let count = 0; count < 6; count += 1) bodies.push(await read(client.get({ range: "x" })));
  expect(bodies).toEqual(["200 body", "200 body", "206 abcde", "204 ", "200 ", "200 body"]);
  expect(requests).toHaveLength(1);
  const [, host] = /host: (\S+)/.exec(requests[0]?.[0] ?? "") ?? [];
  const text = `GET /a?b HTTP/1.1\r\nhost: ${host}\r\nconnection: keep-alive\r\naccept-encoding: identity\r\nrange: x\r\n\r\n`;
  expect(requests[0]).toEqual(Array(6).fill(text));
});

test.each([
  ["that the server closes", ["HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"]],
  ["of HTTP/1.0", ["HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"]],
  ["whose response has no length", ["HTTP/1.1 200 OK\r\n\r\n", "close"]],
  ["that brings more bytes with the response", [`${OK}HTTP/1.1 200 OK\r\n`]],
  [
    "that the server keeps for a second",
    [OK.replace("\r\n\r\n", "\r\nKeep-Alive: max=5, timeout=1\r\n\r\n")],
  ],
  [
    "that changes the protocol",
    ["HTTP/1.1 101 Switching Protocols\r\nUpgrade: a\r\nConnection: Upgrade\r\n\r\n"],
  ],
])("sends no further request over a connection %s", async (_, script) => {
  const { client, requests } = await serve(script, [OK]);
  await read(client.get({}));
  expect(await read(client.get({}))).toBe("200 body");
  expect(requests).toHaveLength(2);
});

test("sends no request over an idle connection that has ended, or brought bytes", async () => {
  const { client, requests, sockets } = await serve([OK], [OK], [OK]);
  await read(client.get({}));
  sockets[0]?.end();
  await once(sockets[0] as Socket, "close");
  await read(client.get({}));
  sockets[1]?.write(OK);
  await once(sockets[1] as Socket, "close");
  expect(await read(client.get({}))).toBe("200 body");
  expect(requests).toHaveLength(3);
});

test.each([
  [
    "a smaller body",
    ["HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nbody", "close"],
    /connection was closed/,
  ],
  [
    "an incomplete chunk",
    ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbody", "close"],
    /closed/,
  ],
  ["no response", ["close"], /the connection was closed/],
  ["another protocol", ["SSH-2.0"], /expected an HTTP response, found no status line/],
  [
    "headers without an end",
    [`HTTP/1.1 200 OK\r\nX: ${"x".repeat(2 ** 14)}`],
    /found more than 16384 bytes of headers/,
  ],
  [
    "trailers without an end",
    ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X: x\r\n".repeat(2 ** 12)],
    /16384 bytes/,
  ],
  [
    "both lengths",
    ["HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"],
    /both a Content-Length and/,
  ],
  [
    "two lengths",
    ["HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n"],
    /a wrong Content-Length/,
  ],
] as const)("reports %s, and closes the connection", async (_, script, message) => {
  const { client, sockets } = await serve(script);
  const error = await rejectionOf(read(client.get({})));
  expect(error).toMatchObject({ name: "RequestFailure", isTransient: true });
  expect((error as Error).message).toMatch(message);
  await vi.waitFor(() => expect(sockets[0]?.closed).toBe(true), 20_000);
});

test("accepts headers of as many bytes as Node does", async () => {
  const head = `HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX: `;
  const { client } = await serve([`${head}${"x".repeat(2 ** 14 - head.length - 4)}\r\n\r\n`]);
  expect(await read(client.get({}))).toBe("200 ");
});

/** Starts a server with TLS, whose responses are these bytes. Returns its port, and whether connections resumed a session. */
async function serveTls(body: Buffer) {
  vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
  const areResumed: boolean[] = [];
  const server = createHttpsServer(makeCertificate(), ({ socket }, response) => {
    areResumed.push((socket as TLSSocket).isSessionReused());
    response.setHeader("Connection", "close").end(body);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    vi.unstubAllEnvs();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, areResumed };
}

/** Starts a proxy that opens tunnels, and counts them. Another name of this machine, 0.0.0.0, is reached through it. */
async function openTunnels() {
  const proxy = { tunnels: 0 };
  const server = createHttpServer().on("connect", ({ url }, client) => {
    proxy.tunnels += 1;
    const upstream = connect(Number(url?.split(":")[1]), "127.0.0.1");
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    pipeline(upstream, client, upstream, () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  vi.stubEnv("HTTPS_PROXY", `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  vi.stubEnv("NO_PROXY", "");
  return proxy;
}

test.each([
  ["directly", "127.0.0.1", 0],
  ["in tunnels", "0.0.0.0", 3],
])(
  "receives over TLS %s, and resumes the session of an earlier connection",
  async (_, host, tunnels) => {
    const body = Buffer.alloc(2 ** 20, "body");
    const { port, areResumed } = await serveTls(body);
    const proxy = await openTunnels();
    const { timeouts } = transferOf({});
    const client = new HttpClient({ url: `https://${host}:${port}/`, headers: {} }, timeouts);
    onTestFinished(() => client.close());
    for (let count = 0; count < 3; count += 1) {
      expect(await read(client.get({}))).toBe(`200 ${body.toString("latin1")}`);
    }
    expect(areResumed).toEqual([false, true, true]);
    expect(proxy.tunnels).toBe(tunnels);
  },
);

/** Moments at which a request can be cancelled. */
const MOMENTS = {
  "before it is sent": async () => {},
  "while it connects": async (download: Download) => void read(download).catch(() => {}),
  "before the response": async (download: Download, { requests }: Scripted) => {
    read(download).catch(() => {});
    await vi.waitFor(() => expect(requests[0]).toHaveLength(1), 20_000);
  },
  "in the head": (download: Download) => download.response(async () => {}),
  "in the body": (download: Download) =>
    new Promise<void>((resolve) => {
      download.response(() => download.body(() => resolve())).catch(() => {});
    }),
};

test.each(Object.entries(MOMENTS))(
  "closes the connection of a request that is cancelled %s",
  async (name, moment) => {
    const isSilent = name.startsWith("before");
    const served = await serve(isSilent ? [] : ["HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nbo"]);
    const download = served.client.get({});
    await moment(download, served);
    download.cancel();
    expect(await rejectionOf(download.body(() => {}))).toMatchObject({
      message: "the request was cancelled",
    });
    // It may not have reached the server.
    for (const socket of served.sockets)
      await vi.waitFor(() => expect(socket.closed).toBe(true), 20_000);
    const next = served.client.get({});
    read(next).catch(() => {});
    await vi.waitFor(() => expect(served.requests.at(-1)).toHaveLength(1), 20_000);
    expect(served.requests.filter(({ length }) => length > 1)).toEqual([]);
    next.cancel();
  },
);

test("passes on what a receiver of the body throws, and closes the connection", async () => {
  const { client, sockets } = await serve([OK]);
  const error = new Error("from the receiver");
  const download = client.get({});
  const work = download.response(() =>
    download.body(() => {
      throw error;
    }),
  );
  expect(await rejectionOf(work)).toBe(error);
  await vi.waitFor(() => expect(sockets[0]?.closed).toBe(true), 20_000);
});

test("a cancelled download leaves the connection to the next request once its response is complete", async () => {
  const { client, requests } = await serve([OK], [OK]);
  const first = client.get({});
  await read(first);
  const second = read(client.get({}));
  first.cancel();
  expect(await second).toBe("200 body");
  expect(requests).toHaveLength(1);
});
