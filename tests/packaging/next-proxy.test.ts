/** An app of Next.js with a proxy, and random exchanges through it, in front of an origin on real sockets. */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
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
import { expectJob } from "./support/job.js";
import { startedApp } from "./support/next.js";
import { PATIENCE } from "./support/project.js";

/** What Next.js adds to a request, and what the `fetch` of Node that passes it on does. */
const ADDED = [
  ...["x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-proto"],
  ...["accept", "accept-encoding", "accept-language", "host", "sec-fetch-mode", "user-agent"],
];

/** One app for all rules, which the first segment of a path chooses. */
function subject(): Subject {
  let started: Promise<URL> | undefined;
  const server = createServer();

  async function start(origin: Origin): Promise<URL> {
    server.on("request", origin.listener);
    const deployment = { origin: (await listening(server)).href, rules: RULE_SETS };
    const url = await startedApp("next-proxy", [], (folder) =>
      writeFileSync(join(folder, "deployment.json"), JSON.stringify(deployment)),
    );
    await expectJob(url);
    const { headers } = await fetch(new URL("/known", url));
    expect(headers.get("x-proxy")).toBe("next-proxy");
    return url;
  }

  return {
    exact: { requests: false, responses: false },
    latin1: { requests: false, responses: false },
    // Next.js keeps fields in objects, where `__proto__` is none, and splits cookies where a comma may be
    // between two: that they stay apart is tested with others.
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

test(`it does the job, and ${TITLE}`, { timeout: 2 * PATIENCE }, () => checkExchanges(subject()));
