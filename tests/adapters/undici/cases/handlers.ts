/** Handlers that lack methods, such as those made for another version of undici. */
import assert from "node:assert/strict";
import type { UndiciOptions } from "hedgerow/undici";
import type { Dispatcher } from "undici";
import { echo, RULES, type UndiciCases, withClient } from "../client.js";

/** Options under which every request passes, and which wrap handlers or delay the decision. */
const PASSING: readonly UndiciOptions[] = [
  { headers: RULES },
  { headers: RULES, paths: () => true },
  { headers: RULES, paths: async () => true },
];

/** Methods that undici 8 requires of a handler. */
const REQUIRED = ["onResponseStart", "onResponseData", "onResponseEnd", "onResponseError"];

type Dispatch = (dispatcher: Dispatcher, origin: string) => Promise<string>;

/** Asserts that the result of a request is the same with the interceptor as without it. */
function assertSame(undici: Parameters<UndiciCases[string]>[0], request: Dispatch): Promise<void> {
  const bare = new undici.Agent();
  const checks = PASSING.map((options) =>
    withClient(undici, options, echo, async ({ client, origin }) => {
      assert.equal(await request(client, origin), await request(bare, origin));
    }),
  );
  return Promise.all(checks).then(() => bare.destroy());
}

/** Dispatches a request to a handler that lacks a method. Returns the methods called, and how the request ended. */
function dispatch(dispatcher: Dispatcher, origin: string, missing?: string): Promise<string> {
  return new Promise((resolve) => {
    const called = new Set<string>();
    const end = (how: string) => resolve([...called, how].join());
    const all: Record<string, (...args: unknown[]) => void> = {
      onRequestStart() {},
      onBodySent() {},
      onRequestSent() {},
      onResponseStarted() {},
      onResponseStart() {},
      onResponseData: () => missing === "onResponseEnd" && end("data"),
      onResponseEnd: () => end("ended"),
      onResponseError: (_controller, error) => end(`${error}`),
    };
    const methods = Object.entries(all).filter(([name]) => name !== missing);
    const recording = methods.map(([name, method]) => [
      name,
      (...args: unknown[]) => {
        called.add(name);
        method(...args);
      },
    ]);
    try {
      const request = { origin, path: "/", method: "PUT" as const, body: "sent" };
      dispatcher.dispatch(request, Object.fromEntries(recording));
    } catch (error) {
      end(`threw ${error}`);
    }
  });
}

/** Returns the status that `fetch` of this Node receives, or the reason of its failure, which comes at once. */
async function statusOf(dispatcher: Dispatcher, url: string): Promise<string> {
  const signal = AbortSignal.timeout(20_000);
  const options: RequestInit & { dispatcher: Dispatcher } = { dispatcher, signal };
  try {
    const response = await fetch(url, options);
    await response.arrayBuffer();
    return `${response.status}`;
  } catch (error) {
    return `${(error as Error).cause ?? error}`;
  }
}

export const handlers: UndiciCases = {
  "a handler receives every call that it receives without the interceptor": (undici) =>
    assertSame(undici, dispatch),

  "a handler that lacks a method is refused if it is refused without the interceptor": async (
    undici,
  ) => {
    for (const missing of REQUIRED) {
      await assertSame(undici, (dispatcher, origin) => dispatch(dispatcher, origin, missing));
    }
  },

  "fetch of a Node with another undici succeeds or fails as without the interceptor": (undici) =>
    assertSame(undici, statusOf),

  "fetch of a Node with another undici receives the 404 for an absent path, or fails as without the interceptor":
    async (undici) => {
      for (const paths of [() => false, async () => false]) {
        await withClient(undici, { paths }, echo, async ({ client, origin }) => {
          const bare = new undici.Agent();
          const without = await statusOf(bare, origin);
          assert.equal(await statusOf(client, origin), without === "200" ? "404" : without);
          await bare.destroy();
        });
      }
    },
};
