/** Garbage in the engine, or instead of one: it is ignored and reported. */
import { createServer, type Socket } from "node:net";
import { createClient } from "@redis/client";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";

import { closed, listening } from "../../../../tests/support/http/listen.js";
import { fillLease } from "../../src/fill-lease.js";
import { redisEngine } from "../../src/residency/redis-engine.js";
import { reportResidency } from "../../src/residency/report.js";
import { isTyped, newFleet, TIMEOUT } from "../support/faulty-fleet.js";
import { untilShown, watching } from "../support/pictures.js";
import { Redis, until } from "../support/redis.js";
import { StubCache } from "../support/stub-cache.js";

let redis: Redis;

beforeAll(async () => {
  redis = await Redis.start();
});

afterAll(() => redis.close());

const VERSION = { epoch: "1", seq: 1, ttl: 30_000 };
const STATUS = { load: 0, capacity: 1, available: true, bytes: 0, hits: 0, misses: 0 };
const MESSAGE = { kind: "change", host: "two", ...VERSION, status: STATUS, added: [], removed: [] };

test.each([
  ["text", "garbage"],
  ["null", "null"],
  ["a number", "7"],
  ["an array", "[]"],
  ["an endless text", "x".repeat(2 ** 20)],
  ["nesting without end", "[".repeat(100_000)],
  ["a host that is no text", JSON.stringify({ ...MESSAGE, host: 7 })],
  ["a host with a long ID", JSON.stringify({ ...MESSAGE, host: "x".repeat(300) })],
  ["another kind", JSON.stringify({ ...MESSAGE, kind: "other" })],
  ["a sequence number that is no number", JSON.stringify({ ...MESSAGE, seq: "1" })],
  ["a TTL without end", JSON.stringify({ ...MESSAGE, ttl: 1e300 })],
  ["no status", JSON.stringify({ ...MESSAGE, status: null })],
  ["a negative load", JSON.stringify({ ...MESSAGE, status: { ...STATUS, load: -1 } })],
  ["an identity in upper case", JSON.stringify({ ...MESSAGE, added: ["A".repeat(64)] })],
  ["identities that are no array", JSON.stringify({ ...MESSAGE, removed: {} })],
  ["too many identities", JSON.stringify({ ...MESSAGE, added: Array(1_025).fill("a".repeat(64)) })],
])("ignores and reports a message that is invalid: %s", async (_, text) => {
  const { errors, digest, redisClient, residency } = await newFleet(redis, "messages");
  await redisClient.publish("{messages}:changes", text);
  await until("an error", () => errors.some(({ message }) => message.includes("message")));
  await untilShown(residency, { one: [digest] });
  expect(residency.isCurrent).toBe(true);
  expect(errors.filter((error) => !isTyped(error))).toEqual([]);
});

test.each([
  ["a status that is not JSON", { status: "{" }],
  ["a status without end", { status: `"${"x".repeat(10_000)}"` }],
  ["a sequence number that is none", { seq: "one" }],
])("ignores and reports the state of a host that is invalid: %s", async (_, fields) => {
  const { errors, digest, redisClient, residency } = await newFleet(redis, "states");
  const state = { epoch: "1", seq: "1", status: JSON.stringify(STATUS), count: "0", ...fields };
  await redisClient.hSet("{states}:state:two", state);
  await redisClient.pExpire("{states}:state:two", 30_000);
  await redisClient.publish("{states}:changes", JSON.stringify({ kind: "full", host: "two" }));
  await until("an error", () => errors.some(({ message }) => message.includes('"two"')));
  await untilShown(residency, { one: [digest] });
  await redisClient.del("{states}:state:two");
});

test.each([
  ["a text", ["garbage"]],
  ["bytes that are no text", [Buffer.alloc(64, 0xff)]],
  ["more than 65,536", Array.from({ length: 65_537 }, (_, at) => `${at}`.padStart(64, "0"))],
])("ignores and reports images of a host that are invalid: %s", async (_, images) => {
  const { errors, digest, redisClient, residency } = await newFleet(redis, "images");
  const state = { epoch: "1", seq: "1", status: JSON.stringify(STATUS), count: "1" };
  await redisClient.hSet("{images}:state:two", state);
  await redisClient.pExpire("{images}:state:two", 30_000);
  await redisClient.sAdd("{images}:images:two", images);
  await redisClient.publish("{images}:changes", JSON.stringify({ kind: "full", host: "two" }));
  await until("an error", () => errors.some(({ message }) => message.includes('"two"')));
  await untilShown(residency, { one: [digest] });
  await redisClient.del(["{images}:images:two", "{images}:state:two"]);
});

test("reads at most as many images as allowed, and reports it", async () => {
  const { client, errors } = await newFleet(redis, "many");
  const cache = new StubCache();
  for (let image = 0; image < 50; image += 1) cache.fill(image);
  const report = await reportResidency(cache.asCache, { client, host: "two" });
  onTestFinished(() => report.close());
  const onError = (error: Error) => errors.push(error);
  const residency = await watching({ client, maxImages: 20, onError });
  expect(residency.hosts().reduce((sum, { images }) => sum + images, 0)).toBe(20);
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatchObject({ code: "ERR_ENGINE", message: /too many/ });
});

test.each([
  ["text", "garbage\r\n"],
  ["replies of the wrong type", "+OK\r\n".repeat(20)],
  ["a length without end", "$99999999999\r\n"],
  ["an error with a secret", "-ERR redis://user:secret@example.com/ is wrong\r\n"],
  ["nothing", ""],
])("goes on without an engine that answers %s", async (_, answer) => {
  const server = createServer((socket) => {
    socket.on("error", () => {}).on("data", () => socket.write(answer));
  });
  const url = (await listening(server, "redis")).href;
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => sockets.add(socket));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await closed(server);
  });
  const redisClient = createClient({ url, disableClientInfo: true }).on("error", () => {});
  redisClient.connect().catch(() => {});
  onTestFinished(() => redisClient.destroy());
  const errors: Error[] = [];
  const onError = (error: Error) => errors.push(error);
  const client = redisEngine(redisClient, { timeout: TIMEOUT });
  const residency = await watching({ client, onError });
  const report = await reportResidency(new StubCache().asCache, { client, host: "one", onError });
  const lease = await fillLease("image", { client, onError });
  expect(lease.reason).toBe("engine");
  expect([residency.isCurrent, residency.hosts()]).toEqual([false, []]);
  await lease.release({ filled: true });
  await report.close();
  expect(errors.length).toBeGreaterThan(1);
  expect(errors.filter((error) => !isTyped(error))).toEqual([]);
  expect(errors.filter(({ message }) => message.includes("secret"))).toEqual([]);
});
