/** Hosts whose clocks differ: only the clock of the engine counts. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

import { digestOf } from "../../../snapshot/test/support/stored-images.js";
import { FleetProcess } from "../support/fleet-process.js";
import { untilShown, watching } from "../support/pictures.js";
import { connectTo, Redis, until } from "../support/redis.js";

let redis: Redis;

beforeAll(async () => {
  redis = await Redis.start();
});

afterAll(() => redis.close());

test("shows hosts whose clocks differ by minutes and years, and misses those that were killed", async () => {
  const client = await connectTo(redis.url);
  const residency = await watching({ client });
  const shifts = { late: -900_000, early: 900_000, future: 3e11 };
  const hosts = Object.entries(shifts).map(([host, shift], at) => {
    const report = { host, ttl: 1_500, digests: [digestOf(at), digestOf("all")] };
    return {
      host,
      digests: report.digests,
      process: new FleetProcess({ url: redis.url, shift, report }),
    };
  });
  const truth = Object.fromEntries(hosts.map(({ host, digests }) => [host, digests]));
  await untilShown(residency, truth);
  const later = digestOf("later");
  for (const { process } of hosts) process.fill(later);
  for (const digests of Object.values(truth)) digests.push(later);
  await untilShown(residency, truth);
  for (const { process } of hosts) await process.kill();
  await until("that no host is known", () => residency.hosts().length === 0);
  expect(residency.isCurrent).toBe(true);
});

test("reads no clock but the monotonic one", () => {
  const source = fileURLToPath(new URL("../../src", import.meta.url));
  for (const name of readdirSync(source, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts") || name.startsWith("simulation")) continue;
    expect(readFileSync(join(source, name), "utf8"), name).not.toMatch(/\bDate\b|\btimeOrigin\b/);
  }
});
