/** A small S3 service in memory that can ignore conditions: the one of the tests honours them all. */
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import { buffer } from "node:stream/consumers";

import { closed, listening } from "../../../../tests/support/http/listen.js";

/** A kind of conditional request. */
export type Condition = "If-None-Match" | "If-Match";

export interface FakeS3 extends AsyncDisposable {
  readonly endpoint: URL;
}

/** Starts the service. @param ignored the condition that it ignores */
export async function startFakeS3(ignored?: Condition): Promise<FakeS3> {
  const objects = new Map<string, Buffer>();
  const server = createServer(async (asked, response) => {
    const { method, url = "", headers } = asked;
    const key = new URL(url, "http://host").pathname;
    const body = await buffer(asked);
    const found = objects.get(key);
    const refuse = (status: number, code: string) =>
      response
        .writeHead(status, { "content-type": "application/xml" })
        .end(method === "HEAD" ? "" : `<Error><Code>${code}</Code></Error>`);
    const isNew = headers["if-none-match"] === "*" && ignored !== "If-None-Match";
    // As many services do.
    const isIgnored = ignored === "If-Match" || method === "DELETE";
    const match = isIgnored ? undefined : headers["if-match"];
    if (isNew && found !== undefined) return refuse(412, "PreconditionFailed");
    if (match !== undefined && found === undefined) return refuse(404, "NoSuchKey");
    if (match !== undefined && match !== tagOf(found)) return refuse(412, "PreconditionFailed");
    if (method === "PUT") {
      objects.set(key, body);
      return response.writeHead(200, { etag: tagOf(body) }).end();
    }
    if (method === "DELETE") {
      objects.delete(key);
      return response.writeHead(204).end();
    }
    if (found === undefined) return refuse(404, "NoSuchKey");
    const size = found.length;
    const about = { etag: tagOf(found), "content-length": size, "last-modified": LONG_AGO };
    return response.writeHead(200, about).end(method === "HEAD" ? undefined : found);
  });
  return { endpoint: await listening(server), [Symbol.asyncDispose]: () => closed(server) };
}

const LONG_AGO = new Date(0).toUTCString();

function tagOf(bytes: Buffer | undefined): string {
  return `"${createHash("md5")
    .update(bytes ?? "")
    .digest("hex")}"`;
}
