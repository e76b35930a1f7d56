/** A Next.js app with a proxy, tested by random exchanges with an origin on real sockets. */
import { createServer } from "node:http";
import { expect, test } from "vitest";

import {
  checkExchanges,
  FRAMING,
  type Running,
  type Subject,
  served,
  TITLE,
} from "../support/http/check.js";
import { closed, listening } from "../support/http/listen.js";
import type { Origin } from "../support/http/origin.js";
import { RULE_SETS } from "../support/http/rule-sets.js";
import { startApp } from "./support/next.js";
import { TEST_TIMEOUT } from "./support/project.js";
import { expectProtected } from "./support/protected.js";

/** Fields that Next.js adds to a request, and those that Node's `fetch` adds when it forwards it. */
const ADDED = [
  ...["x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-proto"],
  ...["accept", "accept-encoding", "accept-language", "host", "sec-fetch-mode", "user-agent"],
];

/** Returns one app for all rule sets. The first segment of a path chooses the rule set. */
function subject(): Subject {
  let started: Promise<URL> | undefined;
  const server = createServer();

  async function start(origin: Origin): Promise<URL> {
    server.on("request", origin.listener);
    const url = await startApp("next-proxy", {
      files: { "deployment.json": { rules: RULE_SETS } },
      env: { ORIGIN: (await listening(server)).href },
    });
    await expectProtected(url);
    const { headers } = await fetch(new URL("/known", url));
    expect(headers.get("x-proxy")).toBe("next-proxy");
    return url;
  }

  return {
    exact: { requests: false, responses: false },
    latin1: { requests: false, responses: false },
    // Next.js keeps fields in objects, which lose `__proto__`, and splits cookies at commas that may separate two.
    // Other tests check that cookies stay separate.
    free: {
      requests: [...FRAMING, ...ADDED, "__proto__"],
      responses: [...FRAMING, "__proto__", "set-cookie"],
    },
    nominates: false,
    losesEmpty: true,
    async start(_, origin, set): Promise<Running> {
      started ??= start(origin);
      const url = await started;
      return served(new URL(`/set${set}/`, url), () =>
        server.listening ? closed(server) : Promise.resolve(),
      );
    },
  };
}

test(`strips headers and guards paths, and ${TITLE}`, { timeout: 2 * TEST_TIMEOUT }, () =>
  checkExchanges(subject()),
);
