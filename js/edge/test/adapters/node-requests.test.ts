/** Requests, behind every adapter for Node's servers. */
import { randomBytes } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { Agent, createServer, IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, Socket } from "node:net";
import { text } from "node:stream/consumers";
import { HeaderStripper, preset } from "hedgerow";
import { hedgerow, stripRequest } from "hedgerow/connect";
import { describe, expect, test } from "vitest";
import { ask, sendRaw } from "../../../../tests/support/http/client.js";
import { digestOf } from "../../../../tests/support/http/content.js";
import { closed, listening, serve } from "../../../../tests/support/http/listen.js";
import { type Handler, serverNames, start } from "./servers.js";

const RULES = ["x-internal-*", "x-debug"];

/** Returns all forms in which a request exposes its fields. */
function shown({ rawHeaders, headers, headersDistinct }: IncomingMessage): string {
  return JSON.stringify({ rawHeaders, headers, headersDistinct });
}

const echo: Handler = (request, response) => response.end(shown(request));

/** Ways to write a field whose value is `forged`, most of which are not HTTP. */
const FORGERIES = [
  "x-internal-user: forged",
  "X-INTERNAL-USER:forged",
  "X-Internal-User:\tforged \t",
  "x-internal-user: forged\r\nX-Internal-User: forged\r\nx-INTERNAL-user: forged",
  "x-internal-user: a\r\n forged",
  "x-internal-user:\r\n\tforged",
  "x-internal-user : forged",
  " x-internal-user: forged",
  "accept: a\r\n x-internal-user: forged",
  "x-internal-user\t: forged",
  "x-internal-user\0: forged",
  "x-internal-user: forged\rx-internal-user: forged",
  "x-internal-user: forged\nx-internal-user: forged",
  `x-internal-${"a".repeat(300)}: forged`,
  "x-internal-: forged",
  "x-internal-__proto__: forged",
  "__proto__: 1\r\nx-internal-user: forged",
  "constructor: 1\r\nhasOwnProperty: 2\r\n7: 3\r\nx-internal-user: forged",
  "Connection: x-internal-user\r\nx-internal-user: forged",
  "Connection: close, x-other\r\nx-other: 1\r\nx-internal-user: forged",
  "x-internal-user: \xc3\xa9forged",
];

describe.each(serverNames)("an adapter on Node (%s)", (name) => {
  test("strips all forms in which Node exposes request fields", async () => {
    await using started = await start(name, { headers: RULES }, echo);
    const headers = ["X-Kept", "1", "x-Debug", "2", "X-INTERNAL-a", "3", "x-kept", "4"];
    const { body } = await ask(started.url, { headers: [...headers, "Connection", "close"] });
    const { host } = started.url;
    expect(JSON.parse(`${body}`)).toEqual({
      rawHeaders: ["Host", host, "X-Kept", "1", "x-kept", "4", "Connection", "close"],
      headers: { host, "x-kept": "1, 4", connection: "close" },
      headersDistinct: { host: [host], "x-kept": ["1", "4"], connection: ["close"] },
    });
  });

  test.each(FORGERIES)("strips a forged field written as %j", async (lines) => {
    await using started = await start(name, { headers: RULES }, echo);
    const head = `POST / HTTP/1.1\r\nHost: a\r\nX-Kept: 1\r\n${lines}\r\n`;
    const answer = await sendRaw(started.url, `${head}Connection: close\r\n\r\n`);
    const status = Number(answer.slice(9, 12));
    if (status === 200) {
      expect(answer).toContain(`"x-kept":"1"`);
      // A line that begins with white space continues the previous value.
      const isFolded = lines.startsWith(" ") || lines.includes("\r\n x");
      if (!isFolded) expect(answer).not.toContain("forged");
      expect(answer).not.toMatch(/"x-internal[^"]*":/i);
    } else {
      expect(status).toBe(400);
    }
  });

  test("strips the fields that Connection nominates", async () => {
    await using started = await start(name, { headers: preset("hop-by-hop") }, echo);
    const headers = ["Connection", "close, X-Hop", "x-hop", "1", "x-end", "2", "TE", "trailers"];
    const { body } = await ask(started.url, { headers });
    const { rawHeaders } = JSON.parse(`${body}`);
    expect(rawHeaders).toEqual(["Host", started.url.host, "x-end", "2", "TE", "trailers"]);
  });

  test("answers 400 and closes the connection if a request nominates its framing", async () => {
    let handled = 0;
    await using started = await start(name, { headers: preset("hop-by-hop") }, (_, response) => {
      handled += 1;
      response.end();
    });
    const head = "DELETE / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n";
    // Resolves only when the server closes the connection.
    const answer = await sendRaw(
      started.url,
      `${head}Connection: keep-alive, content-LENGTH\r\n\r\nabc`,
    );
    expect(answer).toMatch(
      /^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*connection: close[\s\S]*Bad Request\n$/i,
    );
    expect(answer.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(handled).toBe(0);
  });

  test("keeps the lines of a nominated TE that accept trailers, in every form", async () => {
    await using started = await start(name, { headers: ["connection"] }, (request, response) => {
      const { rawHeaders, headers, headersDistinct } = request;
      response.end(JSON.stringify([rawHeaders.slice(2), headers.te, headersDistinct.te]));
    });
    const headers = ["TE", "gzip", "TE", "trailers", "Connection", "close, TE"];
    const { body } = await ask(started.url, { headers });
    expect(JSON.parse(`${body}`)).toEqual([["TE", "trailers"], "trailers", ["trailers"]]);
  });

  test("passes bodies of 20 MiB unchanged, chunked and with a length", async () => {
    const bytes = randomBytes(20 * 2 ** 20);
    const digest = await digestOf(bytes);
    let arrived = "";
    await using started = await start(name, { headers: RULES }, async (request, response) => {
      arrived = await digestOf(request);
      response.setHeader("x-debug", "1");
      response.end(bytes);
    });
    for (const framing of [
      ["Transfer-Encoding", "chunked"],
      ["Content-Length", `${bytes.length}`],
    ]) {
      const headers = ["x-debug", "1", ...framing];
      const reply = await ask(started.url, { method: "PUT", headers, body: bytes });
      expect([arrived, await digestOf(reply.body)]).toEqual([digest, digest]);
      expect(reply.headers["x-debug"]).toBeUndefined();
    }
  });

  test("passes the trailers of a request", async () => {
    await using started = await start(name, { headers: RULES }, async (request, response) => {
      await text(request);
      response.end(JSON.stringify(request.trailers));
    });
    const head = "POST / HTTP/1.1\r\nHost: a\r\nx-debug: 1\r\nTransfer-Encoding: chunked\r\n";
    const body = "3\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n";
    const answer = await sendRaw(started.url, `${head}Connection: close\r\n\r\n${body}`);
    expect(answer).toContain(`{"x-sum":"7"}`);
  });

  test("sends 100 Continue to a client that waits for it", async () => {
    await using started = await start(name, { headers: RULES }, async (request, response) => {
      response.end((await text(request)) + shown(request));
    });
    const { hostname, port } = started.url;
    const headers = { expect: "100-continue", "x-debug": "1", "content-length": "4" };
    const outgoing = request({ hostname, port, method: "POST", headers });
    outgoing.flushHeaders();
    await once(outgoing, "continue");
    outgoing.end("body");
    const [response] = await once(outgoing, "response");
    const answer = await text(response);
    expect(answer).toMatch(/^body\{/);
    expect(answer).not.toContain("x-debug");
  });

  test("strips every request of one connection, sequential and pipelined", async () => {
    const ports = new Set<number>();
    await using started = await start(name, { headers: RULES }, (request, response) => {
      ports.add(request.socket.remotePort!);
      response.setHeader("x-debug", request.url!);
      response.end(shown(request));
    });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (const path of ["/1", "/2", "/3"]) {
      const { headers, body } = await ask(started.url, { path, headers: ["X-Debug", path], agent });
      expect(headers["x-debug"]).toBeUndefined();
      expect(`${body}`).not.toMatch(/debug/i);
    }
    agent.destroy();
    expect(ports.size).toBe(1);

    const one = "GET / HTTP/1.1\r\nHost: a\r\nX-Debug: 1\r\nX-Kept: 1\r\n";
    const nine = `${one}\r\n`.repeat(9);
    const piped = await sendRaw(started.url, `${nine}${one}Connection: close\r\n\r\n`);
    expect(piped.match(/"x-kept":"1"/g)).toHaveLength(10);
    expect(piped).not.toMatch(/debug/i);
    expect(ports.size).toBe(2);
  });

  test("keeps concurrent requests apart", async () => {
    const paths = { paths: () => new Promise<boolean>((resolve) => setImmediate(resolve, true)) };
    await using started = await start(name, { headers: RULES, ...paths }, echo);
    const agent = new Agent({ keepAlive: true, maxSockets: 20 });
    const checks = Array.from({ length: 300 }, async (_, number) => {
      const headers = ["x-number", `${number}`, `x-internal-${number}`, `${number}`];
      const { body } = await ask(started.url, { headers, agent });
      const fields = JSON.parse(`${body}`).headersDistinct;
      expect(Object.keys(fields).filter((name) => name.startsWith("x-"))).toEqual(["x-number"]);
      expect(fields["x-number"]).toEqual([`${number}`]);
    });
    await Promise.all(checks);
    agent.destroy();
  });

  test("survives a request that its client aborts", async () => {
    const arrivals = new EventEmitter();
    await using started = await start(name, { headers: RULES }, (request, response) => {
      if (request.method === "POST") arrivals.emit("arrived", request);
      else response.end("there");
    });
    const arrived = once(arrivals, "arrived");
    const { hostname, port } = started.url;
    const socket = connect(Number(port), hostname);
    socket.write("POST / HTTP/1.1\r\nHost: a\r\nX-Debug: 1\r\nContent-Length: 9\r\n\r\nabc");
    const [request] = (await arrived) as [IncomingMessage];
    const aborted = once(request, "error");
    socket.destroy();
    await aborted;
    expect(request.headers["x-debug"]).toBeUndefined();
    expect(`${(await ask(started.url)).body}`).toBe("there");
  });
});

test.each(["headers", "headersDistinct", "rawHeaders"] as const)(
  "stripRequest strips a request whose %s were read before",
  async (early) => {
    const guard = hedgerow({ headers: RULES });
    const server = createServer((request, response) => {
      const before = request[early];
      expect(JSON.stringify(before)).toContain("x-debug");
      guard(request, response, () => response.end(shown(request)));
      if (early !== "headersDistinct") expect(JSON.stringify(before)).not.toContain("x-debug");
    });
    const url = await listening(server);
    const { body } = await ask(url, { headers: ["x-debug", "1", "x-kept", "2"] });
    expect(`${body}`).toContain("x-kept");
    expect(`${body}`).not.toContain("x-debug");
    await closed(server);
  },
);

test("stripRequest does not touch a request without internal fields", async () => {
  const server = createServer((request, response) => {
    const { headers, rawHeaders } = request;
    expect(stripRequest(new HeaderStripper(RULES), request)).toBe(0);
    expect([request.headers === headers, request.rawHeaders === rawHeaders]).toEqual([true, true]);
    response.end();
  });
  const url = await listening(server);
  expect((await ask(url, { headers: ["x-kept", "1"] })).status).toBe(200);
  await closed(server);
});

test("stripRequest strips the fields of a request that has no rawHeaders, as serverless platforms emulate it", () => {
  const request = new IncomingMessage(new Socket());
  const fields = { accept: "a", "x-internal-user": "admin", "x-internal-role": ["a", "b"] };
  Object.assign(request, {
    headers: { ...fields, te: "trailers", connection: "te, x-a", "x-a": "1" },
  });
  const stripper = new HeaderStripper(["x-internal-*", "connection"]);
  expect(stripRequest(stripper, request)).toBe(5);
  expect(request.headers).toEqual({ accept: "a", te: "trailers" });
  expect(request.rawHeaders).toEqual([]);
  const capitals = { Accept: "a", "X-Internal-User": "admin", Connection: "X-Hop", "x-hop": "1" };
  Object.assign(request, { headers: capitals });
  expect([stripRequest(stripper, request), request.headers]).toEqual([3, { Accept: "a" }]);
  Object.assign(request, { headers: { connection: "host", host: "a" } });
  expect(() => stripRequest(stripper, request)).toThrow("nominates host");
});

test("a field called __proto__ reaches no prototype, even if Node is vulnerable", async () => {
  const before = Object.getOwnPropertyNames(Object.prototype);
  const server = createServer((request, response) => {
    // Before the fix of CVE-2026-21710, reading it was harmful.
    Object.defineProperty(request, "headersDistinct", {
      configurable: true,
      get: () => {
        throw new TypeError("read");
      },
    });
    stripRequest(new HeaderStripper(RULES), request);
    const distinct = request.headersDistinct;
    response.end(JSON.stringify({ distinct, raw: request.rawHeaders }));
  });
  const url = await listening(server);
  const { body } = await ask(url, {
    headers: ["__proto__", "1", "x-debug", "2", "__PROTO__", "3"],
  });
  expect(`${body}`).toContain('"__proto__":["1","3"]');
  expect(`${body}`).toContain('"__proto__","1","__PROTO__","3"');
  expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
  await closed(server);
});

describe("a bad request whose response was already used", () => {
  const nominating =
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nConnection: content-length\r\n\r\nabc";

  async function answerAfter(prepare: (response: ServerResponse) => void): Promise<string> {
    const guard = hedgerow({ headers: { requests: preset("hop-by-hop") } });
    const { server, url } = await serve((request, response) => {
      prepare(response);
      guard(request, response, () => response.end("handled"));
    });
    try {
      return await sendRaw(url, nominating);
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe("ECONNRESET");
      return "reset";
    } finally {
      await closed(server);
    }
  }

  test("answers a bad request with 400, whatever framing and encoding were set before", async () => {
    const answer = await answerAfter((response) => {
      response.setHeader("Connection", "keep-alive");
      response.setHeader("Content-Length", "100");
      response.setHeader("Transfer-Encoding", "chunked");
      response.setHeader("Content-Encoding", "gzip");
    });
    expect(answer).toMatch(/^HTTP\/1\.1 400/);
    expect(answer).toMatch(/connection: close/i);
    expect(answer).not.toMatch(/content-length: 100|transfer-encoding|content-encoding/i);
  });

  test("closes the connection of a bad request if a head was already sent", async () => {
    const answer = await answerAfter((response) => {
      response.writeHead(200);
      response.write("begun");
    });
    expect(answer).not.toContain("handled");
  });
});
