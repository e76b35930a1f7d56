/** A server of S3 and HTTP that refuses requests of one kind with the status in their path: `/status-503`. */
import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll } from "vitest";

import { closed, listening } from "../../../../tests/support/http/listen.js";

/** It is in URLs, credentials and responses, and must not be in errors. */
export const SECRET = "b4c1e0d2";

/** Bodies of responses: of S3, of gateways, and cut off. */
const BODIES = [
  `<Error><Code>SomeCode</Code><Message>${SECRET} was sent</Message></Error>`,
  `<html><body><hr>${SECRET}<p>bad gateway</body></html>`,
  `{"secret":"${SECRET}"}`,
  "",
  "<Error><Code>Some",
];

/** Returns whether a request is of a kind. */
export type Is = (asked: IncomingMessage) => boolean;

/** Returns whether a request has a method, and a matching path and query. By default it is for an object. */
export const is =
  (method: string, query = /^\/[^?]*(\?(token|x-id)=\w*)?$/): Is =>
  (asked) =>
    asked.method === method && query.test(asked.url ?? "");

export const isPart: Is = ({ url = "" }) => url.includes("partNumber=");
export const isCopied: Is = ({ headers }) => "x-amz-copy-source" in headers;

const LONG_AGO = "2000-01-01T00:00:00Z";

/** Returns the response to a request that is not refused. */
function accepted(
  asked: IncomingMessage,
  status: number,
): [number, string | Buffer, Record<string, string>?] {
  const { method, url = "", headers } = asked;
  if (method === "PUT" && isCopied(asked))
    return [200, "<CopyPartResult><ETag>x</ETag></CopyPartResult>"];
  // Not an MD5, as with encryption.
  if (method === "PUT") return [200, "", { etag: '"e"' }];
  if (method === "POST") return [200, "<R><UploadId>1</UploadId></R>"];
  if (method === "DELETE") return [204, ""];
  if (/[?&]uploads/.test(url)) {
    const upload = `<Key>status-${status}</Key><UploadId>1</UploadId><Initiated>${LONG_AGO}</Initiated>`;
    return [200, `<R><Upload>${upload}</Upload></R>`];
  }
  if (url.includes("list-type")) return [200, "<R><KeyCount>0</KeyCount></R>"];
  if (url.startsWith("/bucket")) return [404, ""];
  const [length, range] = headers.range === "bytes=0-0" ? [1, "0-0"] : [2 ** 19, "1-524288"];
  return [206, Buffer.alloc(length), { etag: '"e"', "content-range": `bytes ${range}/524289` }];
}

let isRefused: Is;
/** The number of requests that were refused, by status. */
export const requests = new Map<number, number>();
/** The statuses of multipart uploads that were created and neither completed nor aborted. */
export const uploads = new Set<number>();

/** Refuses requests of a kind from now on. */
export function refuse(requestsOfKind: Is): void {
  isRefused = requestsOfKind;
  requests.clear();
  uploads.clear();
}

const server = createServer(async (asked, response) => {
  await buffer(asked);
  const status = Number(/status-(\d+)/.exec(asked.url ?? "")?.[1]);
  const [isCreated, isEnded] = [/[?&]uploads/, /uploadId=/].map((query) => query.test(asked.url!));
  if (isRefused(asked)) {
    requests.set(status, (requests.get(status) ?? 0) + 1);
    const body = asked.method === "HEAD" ? "" : BODIES[status % BODIES.length];
    return response.writeHead(status).end(body);
  }
  if (isCreated && asked.method === "POST") uploads.add(status);
  else if (isEnded && asked.method !== "PUT") uploads.delete(status);
  const [found, body, headers] = accepted(asked, status);
  response.writeHead(found, headers).end(body);
});

/** The URL of the server, while tests run. */
export let url: URL;

beforeAll(async () => {
  url = await listening(server);
});
afterAll(() => closed(server));
