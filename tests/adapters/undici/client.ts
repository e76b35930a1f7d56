/** A client of undici with the interceptor, and an origin, for the cases. */
import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { hedgerow, type UndiciOptions } from "hedgerow/undici";
import type { Dispatcher } from "undici";
import { closed, serve } from "../../support/http/listen.js";

export type Undici = typeof import("undici");

/** Test cases of the interceptor by title, for any version of undici. */
export type UndiciCases = Record<string, (undici: Undici) => Promise<void>>;

export const RULES = ["x-internal-*"];
export const FORGED = { "X-Internal-User": "root", "x-kept": "1" };

/** Responds with the received fields as they were written, and with fields of which one is internal. */
export const echo: RequestListener = (request, response) => {
  response.setHeader("X-Internal-Node", "a7");
  response.setHeader("set-cookie", ["a=1", "b=2"]);
  response.setHeader("x-kept", "2");
  response.end(JSON.stringify(request.rawHeaders));
};

interface Setup {
  client: Dispatcher;
  origin: string;
  undici: Undici;
}

/** Runs `use` with a client that has the interceptor, and an origin that calls `listener`. */
export async function withClient(
  undici: Undici,
  options: UndiciOptions | UndiciOptions[],
  listener: RequestListener,
  use: (setup: Setup) => Promise<void>,
): Promise<void> {
  const { server, url } = await serve(listener);
  const agent = new undici.Agent();
  const client = agent.compose(...[options].flat().map(hedgerow));
  try {
    await use({ client, origin: url.origin, undici });
  } finally {
    await agent.destroy();
    await closed(server);
  }
}

/** Asserts that the request that {@link echo} received, and its response, were stripped. */
export function assertStripped(arrived: string, headers: Record<string, unknown>): void {
  assert.match(arrived, /"x-kept","1"/);
  assert.doesNotMatch(arrived, /internal/i);
  assert.equal(headers["x-kept"], "2");
  assert.equal(headers["x-internal-node"], undefined);
  assert.deepEqual(headers["set-cookie"], ["a=1", "b=2"]);
}
