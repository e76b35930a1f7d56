/** Requests for absent paths are answered without being sent. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { RequestListener } from "node:http";
import { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { PathSet } from "hedgerow";
import type { UndiciOptions } from "hedgerow/undici";
import { echo, type UndiciCases, withClient } from "../client.js";

export const paths: UndiciCases = {
  "requests for absent paths are not sent, but answered with 404": async (undici) => {
    const sent: string[] = [];
    const listener: RequestListener = (request, response) => {
      sent.push(request.url!);
      response.end("there");
    };
    const known = new PathSet(["/a"]);
    const sources: UndiciOptions["paths"][] = [known, (path) => known.has(path)];
    for (const paths of [...sources, async (path: string) => known.has(path)]) {
      await withClient(undici, { paths: paths! }, listener, async ({ client, origin }) => {
        const present = await client.request({ origin, path: "/a?b", method: "GET" });
        assert.equal(await present.body.text(), "there");
        const absent = await client.request({ origin, path: "/b?/a", method: "GET" });
        assert.deepEqual([absent.statusCode, await absent.body.text()], [404, "Not Found\n"]);
        const head = await client.request({ origin, path: "/b", method: "HEAD" });
        assert.deepEqual([head.statusCode, await head.body.text()], [404, ""]);
        const fetched = await undici.fetch(`${origin}/b`, { dispatcher: client });
        assert.deepEqual([fetched.status, await fetched.text()], [404, "Not Found\n"]);
        const post = await client.request({ origin, path: "/b", method: "POST" });
        assert.equal(await post.body.text(), "there");
      });
    }
    assert.deepEqual(sent, Array(3).fill(["/a?b", "/b"]).flat());
  },

  "the body of a request that is not sent is destroyed": (undici) =>
    withClient(undici, { paths: new PathSet([]), methods: ["PUT"] }, echo, async (given) => {
      const { client, origin } = given;
      const body = Readable.from(["never read"]);
      const closed = once(body, "close");
      const response = await client.request({ origin, path: "/b", method: "PUT", body });
      assert.equal(response.statusCode, 404);
      await closed;
      await response.body.dump();
    }),

  "stream() and pipeline() receive the 404 for absent paths": (undici) =>
    withClient(undici, { paths: new PathSet([]) }, echo, async ({ client, origin }) => {
      const pieces: string[] = [];
      const request = { origin, path: "/b", method: "GET" as const };
      await client.stream(request, ({ statusCode }) => {
        assert.equal(statusCode, 404);
        return new Writable({
          write(chunk, _encoding, done) {
            pieces.push(`${chunk}`);
            done();
          },
        });
      });
      assert.deepEqual(pieces, ["Not Found\n"]);
      const duplex = client.pipeline(request, ({ statusCode, body }) => {
        assert.equal(statusCode, 404);
        return body;
      });
      assert.equal(await text(duplex.end()), "Not Found\n");
    }),

  "the 404 for an absent path has a type and a length, in every form of a response": (undici) =>
    withClient(undici, { paths: new PathSet([]) }, echo, async ({ client, origin }) => {
      const fields = ["content-type", "text/plain; charset=utf-8", "content-length", "10"];
      for (const responseHeaders of ["raw", null] as const) {
        const request = { origin, path: "/b", method: "GET" as const, responseHeaders };
        const { headers, body } = await client.request(request);
        await body.dump();
        assert.deepEqual(Array.isArray(headers) ? headers : Object.entries(headers).flat(), fields);
      }
      const { headers } = await undici.fetch(`${origin}/b`, { dispatcher: client });
      assert.deepEqual([...headers].flat().sort(), [...fields].sort());
    }),

  "a request passes and the error is reported if the path check fails": async (undici) => {
    const failure = new RangeError("no storage");
    const failing: UndiciOptions["paths"][] = [
      () => {
        throw failure;
      },
      () => Promise.reject(failure),
    ];
    for (const paths of failing) {
      const reported: unknown[] = [];
      const onError = (error: unknown, { path }: { path: string }) => reported.push(error, path);
      await withClient(undici, { paths: paths!, onError }, echo, async ({ client, origin }) => {
        const { statusCode, body } = await client.request({ origin, path: "/b?c", method: "GET" });
        await body.dump();
        assert.equal(statusCode, 200);
        assert.deepEqual(reported, [failure, "/b?c"]);
      });
      const onErrorThatThrows = () => {
        throw failure;
      };
      const options = { paths: paths!, onError: onErrorThatThrows };
      await withClient(undici, options, echo, async ({ client, origin }) => {
        await assert.rejects(client.request({ origin, path: "/b", method: "GET" }), failure);
        await assert.rejects(undici.fetch(origin, { dispatcher: client }));
      });
    }
  },
};
