/** Servers that redirect. */
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createSnapshot, restoreSnapshot, verifySnapshot } from "@hedgerow/snapshot";
import { beforeAll, beforeEach, expect, test } from "vitest";

import { makeCertificate } from "../../../../tests/origin/certificate.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { textsIn } from "../support/error-texts.js";
import { run } from "../support/job.js";
import { refusalOf } from "../support/refusal.js";
import { expectNothingLeft, originOf } from "../support/remote.js";

const path = temporaryFolder();
const [snapshot, restored] = [path("image.vhs"), path("restored")];
const bytes = noise("image", 2 ** 21);
const OPTIONS = { retries: 2, partSize: 2 ** 18, workers: 1 };
const SECRET = "5d1c94fe";
const HEADERS = { Authorization: `Bearer ${SECRET}`, "X-Token": SECRET };

beforeAll(async () => {
  writeFileSync(path("image"), bytes);
  await createSnapshot(path("image"), snapshot, { workers: 1, pieceSize: 2 ** 16 });
});

beforeEach(() => rmSync(restored, { force: true }));

test.each([301, 302, 303, 307, 308])(
  "follows a redirect with status %i, and keeps the headers for the same origin",
  async (status) => {
    const origin = await originOf({ "/b.vhs": snapshot });
    origin.faults = ({ path }) =>
      path === "/a" ? { status, location: `b.vhs?${SECRET}` } : undefined;
    await restoreSnapshot(origin.url("/a"), restored, { ...OPTIONS, headers: HEADERS });
    expectSame(readFileSync(restored), bytes);
    for (const { headers } of origin.requests) {
      expect(headers).toMatchObject({ authorization: HEADERS.Authorization, "x-token": SECRET });
    }
    // All later requests go to where it leads.
    expect(origin.requests.filter((request) => request.path === "/a").length).toBeLessThanOrEqual(
      2,
    );
    await expectNothingLeft(path(), origin);
  },
);

test("sends no secrets to another origin", async () => {
  const other = await originOf({ "/b.vhs": snapshot });
  const origin = await originOf({});
  origin.faults = () => ({ location: other.url("/b.vhs?signed").href });
  const url = origin.url("/a");
  url.username = url.password = SECRET;
  await restoreSnapshot(url, restored, { ...OPTIONS, headers: { "x-token": SECRET } });
  expectSame(readFileSync(restored), bytes);
  expect(other.requestCount).toBeGreaterThan(3);
  for (const request of other.requests) expect(textsIn(request)).not.toContain(SECRET);
  for (const { headers } of other.requests) expect(headers.authorization).toBeUndefined();
  for (const { headers } of origin.requests) {
    const user = Buffer.from(`${SECRET}:${SECRET}`).toString("base64");
    expect(headers).toMatchObject({ authorization: `Basic ${user}`, "x-token": SECRET });
  }
  await expectNothingLeft(path(), origin);
  await expectNothingLeft(path(), other);
});

test("names the first URL, and not the redirected one, in errors", async () => {
  const other = await originOf({});
  const origin = await originOf({});
  origin.faults = () => ({ location: other.url(`/${SECRET}?${SECRET}`).href });
  const error = await refusalOf(verifySnapshot(origin.url("/a"), OPTIONS), "ERR_SOURCE");
  expect(error.status).toBe(404);
  expect(error.message).toContain(origin.url("/a").href);
  expect(textsIn(error)).not.toContain(SECRET);
  await expectNothingLeft(path(), other);
});

const refused: Record<string, (self: string) => { status?: number; location?: string }> = {
  "that goes in a circle": (self) => ({ location: self }),
  "to an invalid URL": () => ({ location: "http://[" }),
  "to a file URL": () => ({ location: "file:///etc/passwd" }),
  "to another scheme": () => ({ location: "ftp://127.0.0.1/a" }),
  "without a location": () => ({ status: 307 }),
};

test.each(Object.entries(refused))("reports a redirect %s", async (_, make) => {
  const origin = await originOf({});
  origin.faults = () => make(origin.url("/a").href);
  const error = await refusalOf(restoreSnapshot(origin.url("/a"), restored, OPTIONS), "ERR_SOURCE");
  expect(error.message).toMatch(/redirect not followed/);
  expect([302, 307]).toContain(error.status);
  expect(origin.requestCount).toBeLessThanOrEqual(12);
  expect(existsSync(restored)).toBe(false);
  await expectNothingLeft(path(), origin);
});

test("follows five redirects in a row", async () => {
  const origin = await originOf({ "/5": snapshot });
  origin.faults = ({ path }) =>
    path === "/5" ? undefined : { location: `/${Number(path.slice(1)) + 1}` };
  await restoreSnapshot(origin.url("/0"), restored, OPTIONS);
  expectSame(readFileSync(restored), bytes);
  await expectNothingLeft(path(), origin);
});

test("does not follow a redirect out of TLS", async () => {
  const tls = makeCertificate();
  writeFileSync(path("cert.pem"), tls.cert);
  const plain = await originOf({ "/b.vhs": snapshot });
  const origin = await originOf({}, { tls });
  origin.faults = () => ({ location: plain.url("/b.vhs").href });
  const source = origin.url("/a").href;
  const job = { call: "verifySnapshot", source, target: path("none"), options: OPTIONS } as const;
  const outcome = await run(job, { env: { NODE_EXTRA_CA_CERTS: path("cert.pem") } });
  expect(outcome.error).toMatchObject({ code: "ERR_SOURCE", status: 302 });
  expect(outcome.error?.message).toMatch(/redirect not followed/);
  expect(plain.requestCount).toBe(0);
});
