/** The time that messages with many fields take, compared with that of filtering their names by a `Set`. */
import { IncomingMessage, type ServerResponse } from "node:http";
import { Socket } from "node:net";
import { HeaderStripper } from "hedgerow";
import { stripRequest, stripResponse } from "hedgerow/connect";
import { hedgerow } from "hedgerow/undici";
import { expect, test } from "vitest";

const COUNT = 50_000;
/** Quadratic stripping takes more than a hundred times as long as the set. */
const FACTOR = 50;

const names = Array.from({ length: COUNT }, (_, number) => `x-internal-${number}`);
const fields = Object.fromEntries([...names, "connection", "x-kept"].map((name) => [name, "1"]));
const raw = Object.entries(fields).flat();
const pairs = Object.entries(fields);
const stripper = new HeaderStripper(["x-internal-*", "connection"]);
const kept = { "x-kept": "1" };

/** Returns the processor time of a function, in microseconds. */
function timeOf(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** Filters the names three times by a set of them. */
function filterNames(): void {
  for (let round = 0; round < 3; round += 1) {
    const set = new Set(names.map((name) => name.toLowerCase()));
    expect(names.filter((name) => !set.has(name))).toEqual([]);
  }
}

/** Returns the fields that a response sends after `stored` were set, and `given` passed to `writeHead`. */
function sentBy(stored: Record<string, unknown>, given: object): unknown {
  const head = new Map(Object.entries(stored));
  let sent: unknown;
  const response = {
    headersSent: false,
    getHeaderNames: () => [...head.keys()],
    getHeader: (name: string) => head.get(name),
    removeHeader: (name: string) => head.delete(name),
    writeHead: (_status: number, rest: unknown) => {
      sent = rest;
    },
  } as unknown as ServerResponse;
  stripResponse(stripper, response);
  response.writeHead(200, given as never);
  return [[...head], sent];
}

/** Returns the fields of a request that has only `headers`, after stripping. */
function emulated(): unknown {
  const request = new IncomingMessage(new Socket());
  request.headers = { ...fields };
  stripRequest(stripper, request);
  return request.headers;
}

/** Returns the fields of a request that the interceptor sends. */
function dispatched(headers: unknown): unknown {
  let sent: unknown;
  const dispatch = (request: { headers?: unknown }) => {
    sent = request.headers;
    return true;
  };
  const request = { path: "/", method: "GET", headers } as never;
  hedgerow({ headers: stripper })(dispatch)(request, {});
  return sent;
}

test.each<[string, () => unknown, unknown]>([
  ["of writeHead, as an object", () => sentBy({}, fields), [[], kept]],
  ["of writeHead, as pairs", () => sentBy({}, pairs), [[], [["x-kept", "1"]]]],
  ["of writeHead, as a list", () => sentBy({}, raw), [[], ["x-kept", "1"]]],
  ["set before writeHead", () => sentBy(fields, {}), [[["x-kept", "1"]], {}]],
  ["of an emulated request", emulated, kept],
  ["of undici, as an object", () => dispatched(fields), kept],
  ["of undici, as a list", () => dispatched(raw), ["x-kept", "1"]],
])("the time to strip fields is linear in their number: %s", (_, strip, expected) => {
  let result: unknown;
  const taken = timeOf(() => {
    result = strip();
  });
  expect(result).toEqual(expected);
  expect(taken).toBeLessThan(FACTOR * timeOf(filterNames));
});
