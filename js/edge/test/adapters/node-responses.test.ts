/** Responses, behind every adapter for Node's servers. */
import { once } from "node:events";
import { type IncomingMessage, type OutgoingHttpHeaders, request, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import express, { type ErrorRequestHandler } from "express";
import { HeaderStripper, preset } from "hedgerow";
import { hedgerow, stripRequest, stripResponse } from "hedgerow/connect";
import { describe, expect, test } from "vitest";
import { ask } from "../../../../tests/support/http/client.js";
import type { Field } from "../../../../tests/support/http/exchange.js";
import { pairsOf } from "../../../../tests/support/http/fields.js";
import { closed, serve } from "../../../../tests/support/http/listen.js";
import { serverNames, start } from "./servers.js";

const RULES = ["x-internal-*", "x-debug", "set-cookie2"];

/** Node's types do not cover all arguments that Node accepts. */
const untyped = (fields: unknown) => fields as OutgoingHttpHeaders;

/** Ways to respond with internal and other fields, including cookies. */
const WAYS: Record<string, (response: ServerResponse) => void> = {
  "fields set one by one": (response) => {
    response.setHeader("X-Kept", "1").setHeader("x-also", "1").setHeader("X-Debug", "1");
    response.setHeader("Set-Cookie", ["a=1", "b=2"]).setHeader("x-internal-a", ["1", "2"]);
    response.end("body");
  },
  "fields appended": (response) => {
    for (const name of ["X-Kept", "x-also", "X-Debug", "x-internal-a"]) {
      response.appendHeader(name, "1");
    }
    response.appendHeader("x-internal-a", "2").appendHeader("set-cookie", "a=1");
    response.appendHeader("Set-Cookie", "b=2").write("bo");
    response.end("dy");
  },
  "fields of Headers": (response) => {
    const fields = new Headers({
      "X-Kept": "1",
      "x-also": "1",
      "X-Debug": "1",
      "x-internal-a": "1",
    });
    fields.append("set-cookie", "a=1");
    fields.append("set-cookie", "b=2");
    response.setHeaders(fields).end("body");
  },
  "fields of a Map": (response) => {
    const fields = new Map<string, string | string[]>(
      Object.entries({ "X-Kept": "1", "x-also": "1", "X-Debug": "1", "x-internal-a": "1" }),
    );
    response.setHeaders(fields.set("set-cookie", ["a=1", "b=2"])).end("body");
  },
  "an object": (response) => {
    response.writeHead(200, {
      ...{ "X-Kept": "1", "x-also": "1", "X-Debug": 1, "X-INTERNAL-a": ["1", "2"] },
      "set-cookie": ["a=1", "b=2"],
    });
    response.end("body");
  },
  "a reason and an object": (response) => {
    const fields = { "X-Kept": "1", "x-also": "1", "X-Debug": "1", "x-internal-a": "1" };
    response.writeHead(200, "Fine", { ...fields, "set-cookie": ["a=1", "b=2"] }).end("body");
  },
  "an object, by a wrapper with three parameters": (response) => {
    const writeHead = response.writeHead.bind(response) as (...given: unknown[]) => ServerResponse;
    response.writeHead = (status: number, reason?: unknown, fields?: unknown) =>
      writeHead(status, reason, fields);
    const fields = { "X-Kept": "1", "x-also": "1", "X-Debug": "1", "x-internal-a": "1" };
    response.writeHead(200, { ...fields, "set-cookie": ["a=1", "b=2"] }).end("body");
  },
  "an object without a reason": (response) => {
    const fields = { "X-Kept": "1", "x-also": "1", "X-Debug": "1", "x-internal-a": "1" };
    const none = undefined as unknown as string;
    response.writeHead(200, none, { ...fields, "set-cookie": ["a=1", "b=2"] }).end("body");
  },
  "names and values in turn": (response) => {
    const fields = ["X-Kept", "1", "X-DEBUG", "1", "set-cookie", "a=1", "x-internal-a", "1"];
    response.writeHead(200, [...fields, "x-internal-A", "2", "Set-Cookie", "b=2", "x-also", "1"]);
    response.end("body");
  },
  "names with lists": (response) => {
    const fields = ["X-Kept", "1", "x-also", "1", "X-Debug", ["1", "2"], "set-cookie"];
    response.writeHead(200, untyped([...fields, ["a=1", "b=2"], "x-internal-a", "1"])).end("body");
  },
  pairs: (response) => {
    const fields = Object.entries({
      "X-Kept": "1",
      "x-also": "1",
      "X-Debug": "1",
      "x-internal-a": "1",
    });
    const cookies = [
      ["set-cookie", "a=1"],
      ["set-cookie", "b=2"],
    ];
    response.writeHead(200, untyped([...fields, ...cookies])).end("body");
  },
  "some fields set, and others in an object": (response) => {
    response.setHeader("x-debug", "1").setHeader("X-Kept", "0").setHeader("x-also", "1");
    const fields = { "x-kept": "1", "X-Internal-a": "1", "set-cookie": ["a=1", "b=2"] };
    response.writeHead(200, fields).end("body");
  },
  "some fields set, and others in turn": (response) => {
    response.setHeader("x-debug", "1").setHeader("x-also", "1");
    const fields = ["x-kept", "1", "X-Internal-a", "1", "set-cookie", "a=1", "set-cookie", "b=2"];
    response.writeHead(200, fields).end("body");
  },
  "heads that are flushed": (response) => {
    response.setHeader("x-debug", "1").setHeader("x-kept", "1").setHeader("x-also", "1");
    response.setHeader("set-cookie", ["a=1", "b=2"]).setHeader("x-internal-a", "1");
    response.flushHeaders();
    response.end("body");
  },
};

describe.each(serverNames)("an adapter on Node (%s)", (name) => {
  test.each(Object.entries(WAYS))("strips a response made of %s", async (_way, make) => {
    const replies = [RULES, ["x-unused-name"]].map(async (headers) => {
      await using started = await start(name, { headers }, (_request, response) => make(response));
      const { status, rawHeaders } = await ask(started.url);
      const fields = pairsOf(rawHeaders).filter(([name]) => name !== "Date");
      return { status, fields };
    });
    const [stripped, whole] = await Promise.all(replies);
    const isInternal = ([name]: Field) => /^x-(internal-a|debug)$/i.test(name);
    expect(stripped!.status).toBe(whole!.status);
    expect(stripped!.fields).toEqual(whole!.fields.filter((field) => !isInternal(field)));
  });

  test("strips the response fields that Connection nominates", async () => {
    await using started = await start(
      name,
      { headers: preset("hop-by-hop") },
      (request, response) => {
        const fields = { Connection: "keep-alive, X-Hop", "x-hop": "1", "x-end": "2" };
        // This many fields are set one by one; the head has the others.
        const set = Number(new URL(request.url!, "http://a").searchParams.get("set"));
        const entries = Object.entries(fields);
        for (const [name, value] of entries.slice(0, set)) response.setHeader(name, value);
        response.writeHead(200, Object.fromEntries(entries.slice(set)));
        response.end();
      },
    );
    for (const set of [0, 1, 2, 3]) {
      const { headers } = await ask(new URL(`?set=${set}`, started.url));
      expect(headers).toMatchObject({ "x-end": "2" });
      expect(headers).not.toHaveProperty("x-hop");
    }
  });

  test("strips nominated fields that were set in another way", async () => {
    await using started = await start(
      name,
      { headers: preset("hop-by-hop") },
      (_request, response) => {
        response.setHeader("x-hop", "1");
        response.writeHead(200, { Connection: "keep-alive, X-Hop", "x-end": "2" });
        response.end();
      },
    );
    const { headers } = await ask(started.url, {});
    expect(headers).toMatchObject({ "x-end": "2" });
    expect(headers).not.toHaveProperty("x-hop");
  });

  test("keeps the framing that a response nominates, and strips the rest", async () => {
    const rules = [...preset("hop-by-hop"), "x-internal-*"];
    await using started = await start(name, { headers: rules }, (request, response) => {
      const isChunked = request.url!.endsWith("/chunks");
      const field = isChunked ? "Transfer-Encoding" : "Content-Length";
      response.setHeader(field, isChunked ? "chunked" : "3");
      response.writeHead(200, { Connection: `keep-alive, ${field}`, "x-internal-a": "1" });
      response.end("all");
    });
    for (const path of ["/chunks", "/length"]) {
      const { headers, body } = await ask(started.url, { path });
      expect([`${body}`, headers["x-internal-a"]]).toEqual(["all", undefined]);
      expect(headers).toHaveProperty(path === "/chunks" ? "transfer-encoding" : "content-length");
    }
  });

  test("keeps responses without a body empty, with their other fields", async () => {
    await using started = await start(name, { headers: RULES }, (request, response) => {
      response.setHeader("x-debug", "1").setHeader("etag", '"a"');
      const status = Number(new URL(request.url!, "http://a").searchParams.get("status"));
      if (request.method === "HEAD") response.setHeader("content-length", "1000");
      response.writeHead(status, { "x-internal-a": "1", "x-kept": "1" }).end();
    });
    for (const [method, status] of [
      ["HEAD", 200],
      ["GET", 204],
      ["GET", 304],
      ["HEAD", 404],
    ] as const) {
      const reply = await ask(started.url, { method, path: `/?status=${status}` });
      expect([reply.status, reply.body.length]).toEqual([status, 0]);
      expect(reply.headers).toMatchObject({ etag: '"a"', "x-kept": "1" });
      expect(reply.headers["content-length"]).toBe(method === "HEAD" ? "1000" : undefined);
      expect(reply.rawHeaders.join()).not.toMatch(/internal|debug/i);
    }
  });

  test("sends early hints and trailers unchanged", async () => {
    await using started = await start(name, { headers: RULES }, (_request, response) => {
      response.writeEarlyHints({ link: "</a.css>; rel=preload; as=style" });
      response.writeHead(200, { trailer: "x-sum", "x-debug": "1" });
      response.write("all");
      response.addTrailers({ "x-sum": "7" });
      response.end();
    });
    const { hostname, port } = started.url;
    const outgoing = request({ hostname, port });
    const hinted = once(outgoing, "information");
    const answered = once(outgoing, "response");
    outgoing.end();
    expect((await hinted)[0]).toMatchObject({
      statusCode: 103,
      headers: { link: "</a.css>; rel=preload; as=style" },
    });
    const [response] = await answered;
    expect(await text(response)).toBe("all");
    expect(response.headers["x-debug"]).toBeUndefined();
    expect(response.trailers).toEqual({ "x-sum": "7" });
  });

  test("streams a response chunk by chunk", async () => {
    await using started = await start(name, { headers: RULES }, async (request, response) => {
      response.setHeader("x-debug", "1");
      response.write("first");
      // The second chunk is sent after the client has received the first.
      await once(request, "data");
      response.end("second");
    });
    const { hostname, port } = started.url;
    const outgoing = request({ hostname, port, method: "POST" });
    outgoing.flushHeaders();
    const [response] = await once(outgoing, "response");
    const [first] = await once(response, "data");
    outgoing.end("go on");
    const [second] = await once(response, "data");
    expect([`${first}`, `${second}`]).toEqual(["first", "second"]);
    expect(response.headers["x-debug"]).toBeUndefined();
  });

  test("takes separate rules for requests and responses", async () => {
    const headers = { requests: ["x-asked"], responses: ["x-answered"] };
    await using started = await start(name, { headers }, ({ headers }, response) => {
      response.setHeader("x-answered", "1").setHeader("x-asked", "2");
      response.end(JSON.stringify(headers));
    });
    const reply = await ask(started.url, { headers: ["x-asked", "1", "x-answered", "2"] });
    expect(JSON.parse(`${reply.body}`)).toMatchObject({ "x-answered": "2" });
    expect(`${reply.body}`).not.toContain("x-asked");
    expect(reply.headers).toMatchObject({ "x-asked": "2" });
    expect(reply.headers).not.toHaveProperty("x-answered");
  });
});

test("two adapters on Node strip what either of them matches", async () => {
  const [first, second] = [["x-first"], ["x-second"]].map((headers) => hedgerow({ headers }));
  const { server, url } = await serve((request, response) => {
    first!(request, response, () => {
      expect(request.headersDistinct).toHaveProperty("x-second");
      second!(request, response, () => {
        response.setHeader("x-first", "1").setHeader("x-kept", "1");
        response.writeHead(200, { "x-second": "1" });
        const { headers, headersDistinct, rawHeaders } = request;
        response.end(JSON.stringify([headers, headersDistinct, rawHeaders]));
      });
    });
  });
  const fields = ["x-first", "1", "X-Second", "1", "x-kept", "1"];
  const { rawHeaders, body } = await ask(url, { headers: fields });
  for (const text of [rawHeaders.join(), `${body}`]) {
    expect(text).toContain("x-kept");
    expect(text).not.toMatch(/first|second/i);
  }
  await closed(server);
});

test("hedgerow/connect strips the responses of Express's error handlers", async () => {
  const app = express().use(hedgerow({ headers: RULES }));
  app.get("/:name", (_request, response) => {
    response.set("x-debug", "1");
    throw new RangeError("no storage");
  });
  const answerError: ErrorRequestHandler = (_error, request, response, _next) => {
    response.status(503).set("X-Internal-Node", "a7").set("x-kept", "1").json(request.headers);
  };
  app.use(answerError);
  const { server, url } = await serve(app);
  // Express itself fails to decode this path.
  for (const path of ["/fails", "/%ff"]) {
    const { headers, body } = await ask(url, { path, headers: ["x-internal-user", "root"] });
    expect(headers["x-kept"]).toBe("1");
    expect(`${Object.keys(headers)} ${body}`).not.toMatch(/internal|x-debug/i);
  }
  await closed(server);
});

test("stripRequest and stripResponse strip events that bypass middleware", async () => {
  const internal = new HeaderStripper(RULES);
  const { server, url } = await serve(() => expect.unreachable());
  for (const event of ["checkContinue", "checkExpectation"]) {
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      stripRequest(internal, request);
      stripResponse(internal, response);
      response.setHeader("x-debug", "1").setHeader("x-kept", event);
      response.end(JSON.stringify(request.headers));
    });
    const expect100 = event === "checkContinue" ? "100-continue" : "else";
    const { headers, body } = await ask(url, {
      method: "POST",
      headers: ["Expect", expect100, "x-internal-user", "root"],
    });
    expect([headers["x-kept"], headers["x-debug"]]).toEqual([event, undefined]);
    expect(JSON.parse(`${body}`)).not.toHaveProperty("x-internal-user");
  }
  await closed(server);
});

test("hedgerow/connect does not strip a head written past Node's methods", async () => {
  const guard = hedgerow({ headers: RULES });
  const past: Record<string, (response: ServerResponse) => void> = {
    "to the socket": ({ socket }) =>
      socket!.end("HTTP/1.1 200 OK\r\nx-debug: 1\r\ncontent-length: 0\r\n\r\n"),
    "by a method of the prototype": (response) =>
      ServerResponse.prototype.writeHead.call(response, 200, { "x-debug": "1" }).end(),
    "by another response": (response) => {
      const other = new ServerResponse(response.req);
      const { socket } = response;
      response.detachSocket(socket!);
      other.assignSocket(socket!);
      other.setHeader("x-debug", "1").end();
    },
  };
  for (const write of Object.values(past)) {
    const { server, url } = await serve((request, response) =>
      guard(request, response, () => write(response)),
    );
    expect((await ask(url)).headers["x-debug"]).toBe("1");
    await closed(server);
  }
});
