/** Reads from servers that differ from others in what they answer to ranges. */
import { createServer } from "node:http";
import { inspectSnapshot } from "@hedgerow/snapshot";
import { expect, test } from "vitest";

import { closed, listening } from "../../../../tests/support/http/listen.js";
import { restore, serve } from "../support/faulty.js";
import { refusalOf } from "../support/refusal.js";
import { faultsOf, isTail } from "../support/remote.js";
import { putObject, s3, s3Options, urlOf } from "../support/upload-s3.js";

test.each([400, 416, 501])(
  "reads from a server that refuses suffix ranges with %i",
  async (status) => {
    const origin = await serve({ faults: faultsOf(isTail, { status }) });
    expect(await restore(origin)).toBeUndefined();
    // The size, and the end.
    expect(origin.requests.filter(({ headers }) => headers.range === "bytes=0-0")).toHaveLength(1);
  },
);

test("reports why a request is refused, not that of the suffix range", async () => {
  const origin = await serve({
    faults: faultsOf(({ headers }) => headers.range !== undefined, { status: 400 }),
  });
  expect(await restore(origin)).toMatchObject({ code: "ERR_SOURCE", status: 400 });
});

/** How servers answer a request for a range of an empty object. */
const EMPTY = {
  "416 with the size": [416, { "content-range": "bytes */0" }],
  "416 without the size": [416, {}],
  "206 with an impossible range": [206, { "content-range": "bytes 0--1/0" }],
  "206 without a range": [206, {}],
  "200": [200, {}],
} as const;

test.each(Object.entries(EMPTY))(
  "an empty object is not a snapshot if the server answers %s",
  async (_, answer) => {
    const [status, headers] = answer;
    let count = 0;
    const server = createServer((asked, response) => {
      count += 1;
      if (asked.headers.range === undefined) response.writeHead(200, { "content-length": 0 }).end();
      else response.writeHead(status, { ...headers, "content-length": 0 }).end();
    });
    const url = new URL("/empty", await listening(server));
    await refusalOf(inspectSnapshot(url), "ERR_SNAPSHOT_FORMAT");
    expect(count).toBeLessThanOrEqual(3);
    await closed(server);
  },
);

test("an empty object of S3 is not a snapshot", async () => {
  await putObject("empty", Buffer.alloc(0));
  const work = inspectSnapshot(urlOf("empty"), { s3: s3Options().s3 });
  await refusalOf(work, "ERR_SNAPSHOT_FORMAT");
  expect(s3.objects()).toContain("empty");
});
