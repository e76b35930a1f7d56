/** Requests that a tier answers, passes on or refuses. */
import { once } from "node:events";
import { statSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { GetObjectCommand, S3 } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { restoreSnapshot } from "@hedgerow/snapshot";
import { expect, onTestFinished, test, vi } from "vitest";
import type { StoredSnapshot } from "./stored.js";
import { ONE, openHosts, storedSnapshot, testFolder } from "./stored.js";

/** The size of an image whose snapshot has several slices. */
const SIZE = 16 * 2 ** 20;

const MINUTE = 60_000;

/** Sends a `GET`. `fetch` would normalise the path, and add headers to a conditional request. */
async function get(url: string, headers: Record<string, string | undefined>, path?: string) {
  const sent = request(url, {
    headers: JSON.parse(JSON.stringify(headers)),
    ...(path && { path }),
  });
  const [response] = (await once(sent.end(), "response")) as [IncomingMessage];
  response.resume();
  await once(response, "end");
  return response;
}

test("answers suffix ranges, and ranges across slices, with the bytes of the object", async () => {
  const stored = await storedSnapshot(SIZE);
  const url = await presignedUrl(stored, stored.tier.url);
  const direct = await presignedUrl(stored, stored.s3.endpoint);
  const { bytes } = stored;
  const ranges = ["bytes=-1000", "bytes=2097000-2097300", `bytes=0-${bytes - 1}`, "bytes=4194304-"];
  for (const range of ranges) {
    const [found, expected] = await Promise.all(
      [url, direct].map(async (one) => {
        const response = await fetch(one, { headers: { range } });
        const body = Buffer.from(await response.arrayBuffer());
        return { status: response.status, range: response.headers.get("content-range"), body };
      }),
    );
    expect([found?.status, found?.range]).toEqual([206, expected?.range]);
    expect(found?.body.equals(expected?.body ?? Buffer.of())).toBe(true);
  }
});

test("refuses a stored slice to a request whose If-Match names another version", async () => {
  const stored = await storedSnapshot(SIZE);
  const url = await presignedUrl(stored, stored.tier.url);
  const range = "bytes=2097152-2097200";
  const first = await get(url, { range });
  const count = stored.requests.length;
  const same = await get(url, { range, "if-match": first.headers.etag });
  const other = await get(url, { range, "if-match": '"other"' });
  expect([first, same, other].map(({ statusCode }) => statusCode)).toEqual([206, 206, 412]);
  expect(stored.requests.length).toBe(count);
});

test("stores slices under the path alone, so that every signature gets the same ones", async () => {
  const stored = await storedSnapshot(SIZE);
  const [one, other] = await Promise.all([
    presignedUrl(stored, stored.tier.url),
    presignedUrl(stored, stored.tier.url, { signedAt: Date.now() - MINUTE }),
  ]);
  expect(one).not.toBe(other);
  const headers = { range: "bytes=0-99" };
  expect((await fetch(one, { headers })).headers.get("x-cache-status")).toBe("MISS");
  expect((await fetch(other, { headers })).headers.get("x-cache-status")).toBe("HIT");
  expect(stored.tier.log().join("\n")).not.toContain("X-Amz");
});

test("keeps keys apart that differ in a slash or in the encoding of one", async () => {
  const stored = await storedSnapshot(SIZE);
  const headers = { range: "bytes=0-99" };
  expect((await fetch(await presignedUrl(stored, stored.tier.url), { headers })).status).toBe(206);
  const count = stored.requests.length;
  for (const path of [
    "/snapshots//image.vhs",
    "/snapshots/x/../image.vhs",
    "/snapshots%2Fimage.vhs",
  ]) {
    const { statusCode } = await get(stored.tier.url.href, headers, path);
    expect(statusCode, path).not.toBe(206);
  }
  expect(stored.requests.length).toBe(count + 3);
});

test("stores no error of the store", async () => {
  let isFailing = true;
  const stored = await storedSnapshot(SIZE, {
    inject: () => (isFailing ? { status: 503, body: "slow down" } : undefined),
  });
  const url = await presignedUrl(stored, stored.tier.url);
  const headers = { range: "bytes=0-99" };
  expect((await fetch(url, { headers })).status).toBe(503);
  isFailing = false;
  expect((await fetch(url, { headers })).status).toBe(206);
  const missing = await presignedUrl({ ...stored, source: "s3://snapshots/none" }, stored.tier.url);
  for (const expected of [1, 2]) {
    expect((await fetch(missing, { headers })).status).toBe(404);
    expect(stored.requests.filter((one) => one.includes("/none?")).length).toBe(expected);
  }
});

test("refuses to change the store", async () => {
  const stored = await storedSnapshot(SIZE);
  const url = await presignedUrl(stored, stored.tier.url);
  const count = stored.requests.length;
  for (const method of ["PUT", "POST", "DELETE"])
    expect((await fetch(url, { method, body: "bytes" })).status).toBe(403);
  expect(stored.requests.length).toBe(count);
  expect(stored.s3.objects()).toEqual(["image.vhs"]);
  expect(statSync(join(stored.s3.folder, "image.vhs")).size).toBe(stored.bytes);
});

test("serves what it has to expired signatures, and the store refuses the rest", async () => {
  const stored = await storedSnapshot(SIZE);
  const { tier, counter } = stored;
  const target = join(testFolder(), "image");
  const expired = await presignedUrl(stored, tier.url, { signedAt: Date.now() - 10 * MINUTE });
  const refused = { code: "ERR_SOURCE", status: 403 };
  await expect(restoreSnapshot(expired, target, ONE)).rejects.toMatchObject(refused);
  await restoreSnapshot(await presignedUrl(stored, tier.url), target, { ...ONE, overwrite: true });
  const bytes = counter.bytes();
  await restoreSnapshot(expired, target, { ...ONE, overwrite: true });
  expect(counter.bytes()).toBe(bytes);
});

test("serves hosts whose clocks differ by twenty minutes", async () => {
  const stored = await storedSnapshot(SIZE);
  const { tier, counter } = stored;
  const target = join(testFolder(), "image");
  const [behind, ahead] = [-10, 10].map((minutes) =>
    // The package signs for a week, too.
    presignedUrl(stored, tier.url, { signedAt: Date.now() + minutes * MINUTE, lifetime: 604_800 }),
  );
  await restoreSnapshot((await behind) ?? "", target, ONE);
  const bytes = counter.bytes();
  await restoreSnapshot((await ahead) ?? "", target, { ...ONE, overwrite: true });
  expect(counter.bytes()).toBe(bytes);
});

test("serves hosts whose proxy it is, which sign for the name of the store", async () => {
  const stored = await storedSnapshot(SIZE);
  const { tier, counter, s3, source, at, digest, sum, bytes } = stored;
  // Another name of this machine, which is no loopback address: those never use a proxy.
  const store = new URL(s3.endpoint);
  store.hostname = "0.0.0.0";
  vi.stubEnv("HTTP_PROXY", tier.url.href);
  vi.stubEnv("NO_PROXY", "");
  onTestFinished(() => void vi.unstubAllEnvs());
  const hosts = await openHosts(2);
  for (const host of hosts) expect(await host.get(source, { ...at(store), digest })).toBe(sum);
  expect(counter.bytes()).toBeGreaterThan(bytes);
  expect(counter.bytes()).toBeLessThan(1.1 * bytes);
});

test("asks the store about every signature if auth_request is on", async () => {
  const changes = [["# auth_request", "auth_request"]] as const;
  const stored = await storedSnapshot(SIZE, { changes });
  const { tier, counter, bytes } = stored;
  const target = join(testFolder(), "image");
  await restoreSnapshot(await presignedUrl(stored, tier.url), target, ONE);
  expect(counter.bytes()).toBeLessThan(1.1 * bytes);
  const expired = await presignedUrl(stored, tier.url, { signedAt: Date.now() - 10 * MINUTE });
  const again = restoreSnapshot(expired, target, { ...ONE, overwrite: true });
  await expect(again).rejects.toMatchObject({ code: "ERR_SOURCE", status: 403 });
});

/**
 * Returns a URL of an object at an address of the store.
 *
 * @param signedAt in milliseconds since 1970. Default: now
 * @param lifetime in seconds. Default: five minutes
 */
async function presignedUrl(
  { s3, source }: Pick<StoredSnapshot, "s3" | "source">,
  endpoint: URL,
  { signedAt = Date.now(), lifetime = 300 } = {},
): Promise<string> {
  const { region, credentials } = s3;
  const client = new S3({ endpoint: endpoint.href, region, credentials, forcePathStyle: true });
  try {
    const { hostname: Bucket, pathname } = new URL(source);
    const command = new GetObjectCommand({ Bucket, Key: pathname.slice(1) });
    const signingDate = new Date(signedAt);
    return await getSignedUrl(client, command, { expiresIn: lifetime, signingDate });
  } finally {
    client.destroy();
  }
}
