/** Servers that become replicas while clients stay connected to them, and errors that pass. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

import { fillLease } from "../../src/fill-lease.js";
import { redisEngine } from "../../src/residency/redis-engine.js";
import { reportResidency } from "../../src/residency/report.js";
import { startEndpoint } from "../support/endpoint.js";
import { isTyped, newFleet } from "../support/faulty-fleet.js";
import { untilShown, watching } from "../support/pictures.js";
import { connectTo, Redis, until } from "../support/redis.js";
import { StubCache } from "../support/stub-cache.js";

const TTL = 900;

/** The timeout of commands, in milliseconds: nothing here has to be noticed by it. */
const TIMEOUT = 10_000;

let redis: Redis;

beforeAll(async () => {
  redis = await Redis.start();
});

afterAll(() => redis.close());

async function startServer(): Promise<Redis> {
  const server = await Redis.start("--repl-diskless-sync-delay", "0");
  onTestFinished(() => server.close());
  return server;
}

/** Makes a server a replica, and waits until it has all data. */
async function follow(replica: Redis, primary: Redis): Promise<void> {
  const client = await connectTo(replica.url);
  await client.sendCommand(["REPLICAOF", "127.0.0.1", `${primary.port}`]);
  const isUp = async () => String(await client.info("replication")).includes("link_status:up");
  await until("that the replica follows", isUp);
}

async function promote(server: Redis): Promise<void> {
  await (await connectTo(server.url)).sendCommand(["REPLICAOF", "NO", "ONE"]);
}

async function newServers() {
  const [primary, replica] = [await startServer(), await startServer()];
  await follow(replica, primary);
  return { primary, replica };
}

test("goes on over a new connection when the server has become a replica", async () => {
  const { primary, replica } = await newServers();
  const endpoint = await startEndpoint(primary);
  const { errors, client, redisClient, cache, digest, residency } = await newFleet(
    endpoint,
    "failover",
    TIMEOUT,
  );
  await promote(replica);
  endpoint.leadTo(replica);
  await follow(primary, replica);
  const other = cache.fill("after the failover");
  await untilShown(residency, { one: [digest, other] });
  expect((await fillLease("image", { client })).reason).toBe("slot");
  const begun = performance.now();
  await until("three TTLs", () => {
    expect(residency.hosts()).toHaveLength(1);
    return performance.now() - begun > 3 * TTL;
  });
  // Others may use the client of the platform.
  expect(String(await redisClient.info("replication"))).toContain("role:slave");
  expect(errors.filter(({ message }) => message.includes("READONLY"))).toEqual([]);
});

test("goes on after a second failover, and over the client again when its server is the primary", async () => {
  const { primary, replica } = await newServers();
  const endpoint = await startEndpoint(primary);
  const { cache, digest, residency } = await newFleet(endpoint, "failover", TIMEOUT);
  await promote(replica);
  endpoint.leadTo(replica);
  await follow(primary, replica);
  const second = cache.fill("after one failover");
  await untilShown(residency, { one: [digest, second] });
  await promote(primary);
  endpoint.leadTo(primary);
  await follow(replica, primary);
  const third = cache.fill("after two failovers");
  await untilShown(residency, { one: [digest, second, third] });
  await replica.stop();
  const fourth = cache.fill("with one server");
  await untilShown(residency, { one: [digest, second, third, fourth] });
});

test("is not current on a replica that has lost its primary, and recovers", async () => {
  const { primary, replica } = await newServers();
  const endpoint = await startEndpoint(replica);
  const { cache, digest } = await newFleet(primary, "lost", TIMEOUT);
  const errors: Error[] = [];
  const residency = await watching({
    client: redisEngine(await connectTo(endpoint.url), { prefix: "lost", timeout: TIMEOUT }),
    onError: (error) => errors.push(error),
  });
  await untilShown(residency, { one: [digest] });
  const lost = await connectTo(replica.url);
  await lost.sendCommand(["REPLICAOF", "127.0.0.1", "1"]);
  const other = cache.fill("unheard of");
  await until("that it notices", () => !residency.isCurrent);
  expect(residency.hosts()).toHaveLength(1);
  await until("an error", () => errors.some(({ message }) => message.includes("MASTERDOWN")));
  expect(errors.at(-1)!.message).toMatch(/^Redis: .*: a new connection reaches .* out of date$/);
  endpoint.leadTo(primary);
  await untilShown(residency, { one: [digest, other] });
  await until("that it is current", () => residency.isCurrent);
});

test("says that the endpoint leads to a replica", async () => {
  const { replica } = await newServers();
  const errors: Error[] = [];
  const client = redisEngine(await connectTo(replica.url), { timeout: TIMEOUT });
  const onError = (error: Error) => errors.push(error);
  const options = { client, host: "one", interval: 10, onError };
  const report = await reportResidency(new StubCache().asCache, options);
  expect(errors[0]!.message).toMatch(
    /^Redis: .*READONLY.*: a new connection reaches a replica, too/,
  );
  expect((await fillLease("image", { client })).reason).toBe("engine");
  await report.close();
  const lister = await connectTo(replica.url);
  const isClosed = async () => {
    const clients = String(await lister.sendCommand(["CLIENT", "LIST"])).split("\n");
    return clients.filter((line) => line.includes("cmd=eval")).length <= 2;
  };
  await until("that no connections pile up", isClosed);
});

test.each([
  "LOADING Redis is loading the dataset in memory",
  "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
  "READONLY You can't write against a read only replica.",
  "CLUSTERDOWN The cluster is down",
  "CLUSTERDOWN Hash slot not served",
  "TRYAGAIN Multiple keys request during rehashing of slot",
  "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
  "OOM command not allowed when used memory > 'maxmemory'.",
  "NOAUTH Authentication required.",
  "NOPERM User fleet has no permissions to run the 'eval' command",
  "NOREPLICAS Not enough good replicas to write.",
  "MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to disk.",
])("tries again after %s", async (message) => {
  const redisClient = await connectTo(redis.url);
  let failures = 0;
  const failing = new Proxy(redisClient, {
    get(target, name) {
      if (name === "sendCommand" && failures > 0) {
        failures -= 1;
        return () => Promise.reject(new Error(message));
      }
      const value = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const errors: Error[] = [];
  const onError = (error: Error) => errors.push(error);
  const client = redisEngine(failing, { prefix: message.replaceAll(/\W/g, "").slice(0, 20) });
  failures = 2;
  const residency = await watching({ client, onError });
  failures = 2;
  const cache = new StubCache();
  const digest = cache.fill(1);
  const options = { client, host: "one", interval: 10, onError };
  const report = await reportResidency(cache.asCache, options);
  onTestFinished(() => report.close());
  await untilShown(residency, { one: [digest] });
  await until("that it is current", () => residency.isCurrent);
  expect(errors.filter((error) => !isTyped(error))).toEqual([]);
});
