/** Requests for absent paths, behind every adapter for Node's servers. */

import express from "express";
import { PathSet } from "hedgerow";
import { type ConnectOptions, hedgerow } from "hedgerow/connect";
import { describe, expect, test } from "vitest";
import { ask } from "../../../../tests/support/http/client.js";
import { closed, serve } from "../../../../tests/support/http/listen.js";
import { BELOW, type Options, serverNames, start } from "./servers.js";

const known = new PathSet(["/a", `${BELOW}/a`]);
const failure = new RangeError("no storage");

const SOURCES: Record<string, NonNullable<Options["paths"]>> = {
  "a set": known,
  "a function": (path: string) => known.has(path),
  "an async function": async (path: string) => known.has(path),
};

const FAILURES: Record<string, NonNullable<Options["paths"]>> = {
  "that throws": () => {
    throw failure;
  },
  "that is rejected": () => Promise.reject(failure),
};

describe.each(serverNames)("an adapter on Node (%s)", (name) => {
  test.each(Object.entries(SOURCES))(
    "answers 404 for paths that %s does not have",
    async (_source, paths) => {
      const asked: string[] = [];
      await using started = await start(name, { paths }, ({ method, url }, response) => {
        asked.push(`${method} ${url}`);
        response.end("there");
      });
      const outcome = async (method: string, path: string) => {
        const { status, body } = await ask(started.url, { method, path });
        return [status, `${body}`.includes("there")];
      };
      expect(await outcome("GET", "/a?b=c")).toEqual([200, true]);
      expect(await outcome("GET", "/wp-login.php?/a")).toEqual([404, false]);
      expect(await outcome("HEAD", "/b")).toEqual([404, false]);
      expect(await outcome("POST", "/b")).toEqual([200, true]);
      expect(asked).toEqual(["GET /a?b=c", "POST /b"]);
    },
  );

  test.each(Object.entries(FAILURES))(
    "lets a request pass if paths is a function %s",
    async (_how, paths) => {
      const reported: unknown[] = [];
      const onError = (error: unknown) => reported.push(error);
      await using started = await start(name, { paths, onError }, (_request, response) => {
        response.end("there");
      });
      expect((await ask(started.url, { path: "/b" })).status).toBe(200);
      expect(reported).toEqual([failure]);
    },
  );

  test.each(Object.entries(FAILURES))(
    "passes the error of onError to the framework if paths is a function %s",
    async (_how, paths) => {
      // A bare server would crash: nothing catches the errors of a listener.
      const isBare = name === "node:http" && paths === FAILURES["that throws"];
      const onError = () => {
        throw failure;
      };
      await using started = await start(name, { paths, onError }, (_request, response) => {
        response.end("there");
      });
      if (isBare)
        return expect(() =>
          hedgerow({ paths, onError })({ method: "GET", url: "/" } as never, {} as never, () => {}),
        ).toThrow(failure);
      const { status, body } = await ask(started.url, { path: "/b" });
      expect([status, `${body}`.includes("there")]).toEqual([500, false]);
    },
  );

  test("uses the given methods and normalize", async () => {
    const options: Options = {
      paths: (path: string) => path.endsWith("/A?B"),
      methods: ["PUT"],
      normalize: (path) => path.toUpperCase(),
    };
    await using started = await start(name, options, (_request, response) => response.end("there"));
    const outcomes = ["/a?b", "/a"].map((path) => ask(started.url, { method: "PUT", path }));
    expect((await Promise.all(outcomes)).map(({ status }) => status)).toEqual([200, 404]);
    expect((await ask(started.url, { path: "/a" })).status).toBe(200);
  });

  test("strips the 404 response", async () => {
    const options = { paths: known, headers: { responses: ["content-type"] } };
    await using started = await start(name, options, (_request, response) => response.end());
    const { status, headers } = await ask(started.url, { path: "/b" });
    expect([status, headers["content-type"]]).toEqual([404, undefined]);
  });
});

test("hedgerow/connect below a mount point checks the whole path", async () => {
  const asked: string[] = [];
  const paths = (path: string) => asked.push(path) > 0;
  await using started = await start(
    "a router of express below a path",
    { paths },
    ({ url }, response) => {
      response.end(url);
    },
  );
  expect(`${(await ask(started.url, { path: "/a?b" })).body}`).toBe("/a?b");
  expect(asked).toEqual([`${BELOW}/a`]);
});

test("the option notFound of hedgerow/connect replaces the answer", async () => {
  const notFound: ConnectOptions["notFound"] = ({ url }, response) => {
    response.writeHead(410, { "x-debug": "1" }).end(url);
  };
  const guard = hedgerow({ paths: known, headers: ["x-debug"], notFound });
  const { server, url } = await serve((request, response) => guard(request, response, () => {}));
  const { status, headers, body } = await ask(url, { path: "/b" });
  expect([status, headers["x-debug"], `${body}`]).toEqual([410, undefined, "/b"]);
  await closed(server);
});

test.each(Object.entries(SOURCES))(
  "errors of notFound reach the framework: %s",
  async (_source, paths) => {
    const notFound = () => {
      throw failure;
    };
    const app = express().use(hedgerow({ paths, notFound }));
    const reported: unknown[] = [];
    app.use(((error, _request, response, _next) => {
      reported.push(error);
      response.status(503).end();
    }) as express.ErrorRequestHandler);
    const { server, url } = await serve(app);
    expect((await ask(url, { path: "/b" })).status).toBe(503);
    expect(reported).toEqual([failure]);
    await closed(server);
  },
);

test("a handler that throws is called only once", async () => {
  const calls: unknown[] = [];
  const next = (error?: unknown) => {
    calls.push(error);
    throw failure;
  };
  const thrown = new Promise((resolve) => process.once("unhandledRejection", resolve));
  const guard = hedgerow({ paths: async () => true });
  guard({ method: "GET", url: "/" } as never, {} as never, next);
  expect(await thrown).toBe(failure);
  expect(calls).toEqual([undefined]);
});
