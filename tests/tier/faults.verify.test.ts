/** Restores while a tier, or the store behind it, fails. */
import { EventEmitter, once } from "node:events";
import { rmSync } from "node:fs";
import { SharedTier } from "@hedgerow/fleet";
import { expect, test } from "vitest";

import type { InjectFault } from "../support/snapshots/proxy.js";
import { type Host, openHosts, type StoredSnapshot, storedSnapshot } from "./stored.js";

const SIZE = 16 * 2 ** 20;

/** Returns the way of a host to the store, and the codes of the errors that it met in the tier. */
function routeOf({ tier, s3 }: StoredSnapshot): { route: SharedTier; codes: unknown[] } {
  const codes: unknown[] = [];
  const onError = (error: unknown) => codes.push((error as { code?: unknown }).code);
  return { route: new SharedTier({ tier: tier.url, store: s3.endpoint, onError }), codes };
}

/** Gets the image on a host, by the tier if that is possible. Returns the SHA-256 of the image. */
const get = ({ source, digest, at }: StoredSnapshot, route: SharedTier, host: Host) =>
  route.read((endpoint, options) => host.get(source, { ...at(endpoint), ...options, digest }));

test("hosts restore from the store when nginx is killed during their restores", async () => {
  const held = new EventEmitter();
  const isHeld = once(held, "held");
  const never = new Promise(() => {});
  // The store holds back a slice, so that no host is done before nginx is killed.
  const inject: InjectFault = ({ headers }) => {
    if (headers.range !== "bytes=4194304-6291455") return undefined;
    held.emit("held");
    return { delay: never };
  };
  const stored = await storedSnapshot(SIZE, { inject });
  const hosts = await openHosts(4);
  const routes = hosts.map(() => routeOf(stored));
  const getting = hosts.map((host, index) => get(stored, routes[index]!.route, host));
  await isHeld;
  await stored.tier.kill();
  expect(await Promise.all(getting)).toEqual(Array(4).fill(stored.sum));
  for (const { route, codes } of routes) {
    expect(codes).toEqual(["ERR_SOURCE"]);
    expect(route.isAvoided).toBe(true);
  }
});

test("a tier that is started again serves what it had stored", async () => {
  const stored = await storedSnapshot(SIZE);
  const [first, second, third] = await openHosts(3);
  const { route, codes } = routeOf(stored);
  expect(await get(stored, route, first!)).toBe(stored.sum);
  await stored.tier.kill();
  expect(await get(stored, route, second!)).toBe(stored.sum);
  expect(codes).toEqual(["ERR_SOURCE"]);
  await stored.tier.restart();
  const bytes = stored.counter.bytes();
  expect(await get(stored, routeOf(stored).route, third!)).toBe(stored.sum);
  expect(stored.counter.bytes()).toBe(bytes);
});

test("hosts restore although the disk of the tier is full", async () => {
  // nginx writes bodies to files with this call, and to sockets with others.
  const inject = ["-e", "trace=pwritev", "-e", "inject=pwritev:error=ENOSPC"];
  const wrapper = ["strace", "-f", "-qq", "-o", "/dev/null", ...inject];
  const stored = await storedSnapshot(SIZE, { wrapper });
  const [host] = await openHosts(1);
  const { route, codes } = routeOf(stored);
  expect(await get(stored, route, host!)).toBe(stored.sum);
  expect(codes).toEqual(["ERR_SOURCE"]);
  expect(stored.tier.errors()).toContain("No space left on device");
});

test("hosts restore although the folder of the cache was removed", async () => {
  const stored = await storedSnapshot(SIZE);
  const [first, second] = await openHosts(2);
  const { route } = routeOf(stored);
  expect(await get(stored, route, first!)).toBe(stored.sum);
  rmSync(stored.tier.cache, { recursive: true });
  expect(await get(stored, route, second!)).toBe(stored.sum);
});

test("hosts restore from a store that is slow and fails one request in four", async () => {
  let count = 0;
  const stored = await storedSnapshot(SIZE, {
    inject: ({ headers }) => {
      if (headers.range === undefined) return undefined;
      count += 1;
      if (count % 4 === 0) return { status: 503 };
      return { fault: () => ({ firstByte: 50, bytesPerSecond: 20e6 }) };
    },
  });
  const hosts = await openHosts(3);
  const options = { ...stored.at(stored.tier.url), digest: stored.digest };
  const sums = await Promise.all(hosts.map((host) => host.get(stored.source, options)));
  expect(sums).toEqual(Array(3).fill(stored.sum));
  // Failed requests have no bytes of the object.
  expect(stored.counter.bytes()).toBeLessThan(1.1 * stored.bytes);
});

test("the tier serves what it has while the store is gone, and says so for the rest", async () => {
  const stored = await storedSnapshot(SIZE);
  const [first, second, third] = await openHosts(3);
  const options = { ...stored.at(stored.tier.url), digest: stored.digest, retries: 1 };
  expect(await first?.get(stored.source, options)).toBe(stored.sum);
  await stored.counter.close();
  expect(await second?.get(stored.source, options)).toBe(stored.sum);
  const { digest: _, ...other } = options;
  const failing = third?.get("s3://snapshots/other.vhs", other);
  await expect(failing).rejects.toMatchObject({ code: "ERR_SOURCE", status: 502 });
});
