/** Reads from servers that differ from others in what they answer to ranges. */
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { inspectSnapshot, restoreSnapshot, verifySnapshot } from "@hedgerow/snapshot";
import { expect, test, vi } from "vitest";

import { closed, listening } from "../../../../tests/support/http/listen.js";
import { expectSame } from "../../../../tests/support/snapshots/image.js";
import { type InjectFault, startProxy } from "../../../../tests/support/snapshots/proxy.js";
import { file, image, OPTIONS, restore, restored, serve } from "../support/faulty.js";
import { refused } from "../support/quirks.js";
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

const [HOUR, DAY] = [3_600_000, 86_400_000];

/** Refuses signatures of the future, as S3 does. */
const refuseEarly: InjectFault = ({ url = "" }) => {
  const [, day, time] = /X-Amz-Date=(\d{8})T(\d{6})Z/.exec(url) ?? [];
  const signed = `${day}${time}`.replace(/(....)(..)(..)(..)(..)(..)/, "$1-$2-$3T$4:$5:$6Z");
  // `Date` is not that of the service.
  const now = performance.timeOrigin + performance.now();
  if (Date.parse(signed) < now + HOUR) return undefined;
  const date = new Date(now).toUTCString();
  return { ...refused(403, "AccessDenied"), headers: { date } };
};

test.each([-10, 10])("reads from S3 if the clock of the machine is %i days off", async (days) => {
  await putObject(`clock ${days}`, file);
  // A proxy of its own is a service whose clock no other test has told.
  await using proxy = await startProxy(s3.endpoint, refuseEarly);
  const options = { s3: s3Options({}, proxy.endpoint).s3, workers: 1 };
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + days * DAY });
  try {
    await restoreSnapshot(urlOf(`clock ${days}`), restored, options);
    expectSame(readFileSync(restored), image);
  } finally {
    vi.useRealTimers();
  }
});

test.each(["restore", "verify"])(
  "signs requests anew when credentials are replaced during a %s",
  async (work) => {
    await putObject("rotated", file);
    const signatures: string[] = [];
    let count = 0;
    const inject: InjectFault = ({ url = "" }) => {
      const [signature = ""] = /X-Amz-Signature=\w+/.exec(url) ?? [];
      if (!signatures.includes(signature)) signatures.push(signature);
      count += 1;
      const isOld = count > 3 && signature === signatures[0];
      // A signature has the time in seconds.
      return isOld ? { ...refused(400, "ExpiredToken"), hold: sleep(1_100) } : undefined;
    };
    await using proxy = await startProxy(s3.endpoint, inject);
    const options = { ...OPTIONS, s3: s3Options({}, proxy.endpoint).s3 };
    if (work === "verify") await verifySnapshot(urlOf("rotated"), options);
    else await restoreSnapshot(urlOf("rotated"), restored, options);
    if (work === "restore") expectSame(readFileSync(restored), image);
    expect(signatures).toHaveLength(2);
  },
);
