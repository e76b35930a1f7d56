/** `hedgerow fleet place` and `status`, on hosts in a file and in Redis. */
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { placement, reportResidency } from "@hedgerow/fleet";
import { expect, onTestFinished, test } from "vitest";
import { closed, freePort, listening } from "../../../../tests/support/http/listen.js";
import { connectTo, Redis } from "../../../fleet/test/support/redis.js";
import { startCluster } from "../../../fleet/test/support/redis-cluster.js";
import { StubCache } from "../../../fleet/test/support/stub-cache.js";
import { hedgerow, hedgerowProcess } from "../support/bin.js";
import { makeTree } from "../support/tree.js";

const DIGEST = "6f".repeat(32);

const HOSTS = [
  { id: "a", load: 3, images: [DIGEST] },
  { id: "b", load: 3, capacity: 2 },
  { id: "c", load: 4, images: [DIGEST, "00".repeat(32)] },
  { id: "d", load: 0, available: false, images: [DIGEST] },
];

/** Writes a file of hosts and returns its path. */
function fileOf(content: unknown): string {
  const file = join(makeTree(), "hosts.json");
  writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
  return file;
}

const place = (...args: string[]) => hedgerow(["fleet", "place", ...args]);

test("places a sandbox as the library does, and says why", async () => {
  const file = fileOf(HOSTS);
  const { out, err, code } = await place(DIGEST, "--hosts", file, "--bound", "1.5", "--json");
  expect({ err, code }).toEqual({ err: "", code: 0 });
  const residents = new Set(["a", "c", "d"]);
  expect(JSON.parse(out)).toEqual(placement(DIGEST, HOSTS, { residents, bound: 1.5 }));
  expect(JSON.parse(out)).toMatchObject({ host: "a", reason: "resident" });
});

test("prints the candidates with the load that they would have", async () => {
  const file = fileOf([
    { id: "a", load: 1, images: [DIGEST] },
    { id: "b\u001b[2J", load: 2 },
  ]);
  const { out, code } = await hedgerowProcess(["fleet", "place", DIGEST, "--hosts", file]);
  expect(code).toBe(0);
  expect(out).toMatch(/^host {4}a\nreason {2}resident\n\n/);
  expect(out).toMatch(/^a +\d\.\d{3} +1\.00 × the mean +has the image$/m);
  expect(out).toMatch(/^b\\u001b\[2J +\d\.\d{3} +1\.50 × the mean +above the bound$/m);
});

test("refuses files that hold no hosts, and options out of range", async () => {
  const refusals: [content: unknown, args: string[], code: number, message: RegExp][] = [
    ["{", [], 3, /hosts\.json: expected JSON/],
    [{ a: 1 }, [], 3, /hosts\.json: expected a list of hosts, found \{"a":1\}/],
    [[{ load: 1 }], [], 3, /\[0\]: id: expected a string, found nothing/],
    [[{ id: "a", load: "1" }], [], 3, /\[0\]: load: expected a number, found "1"/],
    [[{ id: "a", available: 1 }], [], 3, /\[0\]: available: expected true or false, found 1/],
    [[{ id: "a", images: "x" }], [], 3, /\[0\]: images: expected a list, found "x"/],
    [[{ id: "a", load: -1 }], [], 2, /load of a: expected a number from 0/],
    [[{ id: "a" }, { id: "a" }], [], 2, /hosts: expected each host once, found a twice/],
    [[], [], 3, /the fleet has no hosts/],
    [[{ id: "a" }], ["--bound", "0.5"], 2, /bound: expected a number from 1 to 1000, found 0\.5/],
    [[{ id: "a" }], ["--load", "-1"], 2, /expected a number/],
  ];
  for (const [content, args, code, message] of refusals) {
    const found = await place(DIGEST, "--hosts", fileOf(content), ...args);
    expect(found, String(message)).toMatchObject({ code, out: "" });
    expect(found.err).toMatch(message);
    expect(found.err.trim().split("\n")).toHaveLength(1);
  }
  expect(await place(DIGEST, "--hosts", "nothere")).toMatchObject({
    code: 3,
    err: expect.stringContaining("nothere: expected a list of hosts: ENOENT"),
  });
  expect(await place(DIGEST)).toMatchObject({ code: 2, err: expect.stringMatching(/--hosts/) });
});

test("prints the hosts of a fleet, and places a sandbox on one of them", async () => {
  const redis = await Redis.start();
  onTestFinished(() => redis.close());
  const client = await connectTo(redis.url);
  const digests = [];
  for (const [host, load, available] of [
    ["b\u001b", 3, false],
    ["a", 2, true],
  ] as const) {
    const cache = new StubCache();
    digests.push(cache.fill(host), cache.fill("common"));
    const status = () => ({ load, available });
    const report = await reportResidency(cache.asCache, { client, host, status, ttl: 60_000 });
    onTestFinished(() => report.close());
    // The second state has the counters of the cache.
    report.update();
  }
  const status = ["fleet", "status", "--redis", redis.url];
  await expect
    .poll(async () => JSON.parse((await hedgerow([...status, "--json"])).out), { timeout: 20_000 })
    .toEqual({
      hosts: [
        { ...host("a", 2, true), images: 2, bytes: 2, hits: 2, misses: 1 },
        { ...host("b\u001b", 3, false), images: 2, bytes: 2, hits: 2, misses: 1 },
      ],
    });
  const { out } = await hedgerow(["fleet", "status"], "", { REDIS_URL: redis.url });
  expect(out.split("\n")).toEqual([
    expect.stringMatching(/^host +load of capacity +images +on disk +hits$/),
    expect.stringMatching(/^a +2 of 1 +2 +2 B +66\.7 % of 3$/),
    expect.stringMatching(/^b\\u001b +3 of 1 +2 +2 B +66\.7 % of 3 +drains$/),
    "",
  ]);
  const placed = await place(digests[1]!, "--redis", redis.url, "--json");
  expect(JSON.parse(placed.out)).toMatchObject({ host: "a", reason: "resident" });
});

test("says that a server accepts connections and does not answer", async () => {
  const silent = createServer((socket) => socket.resume());
  const { port } = await listening(silent);
  onTestFinished(() => closed(silent));
  const { code, err } = await hedgerow(["fleet", "status", "--redis", `redis://127.0.0.1:${port}`]);
  expect([code, err]).toEqual([3, "hedgerow: Redis: does not answer\n"]);
});

test("prints the hosts of a fleet in a cluster, asked through any node of it, unless a node is silent", async () => {
  const servers = await startCluster();
  for (const { url } of servers) {
    const { out, err } = await hedgerow(["fleet", "status", "--redis", url, "--json"]);
    expect([JSON.parse(out), err]).toEqual([{ hosts: [] }, ""]);
  }
  const [first, other] = servers as [Redis, Redis];
  other.pause();
  onTestFinished(() => other.resume());
  const ended = await hedgerowProcess(["fleet", "status", "--redis", first.url]);
  expect(ended).toEqual({ code: 3, out: "", err: "hedgerow: Redis: does not answer\n" });
});

test("names Redis once in an error, and says how to connect", async () => {
  const redis = await Redis.start();
  onTestFinished(() => redis.close());
  const client = await connectTo(redis.url);
  await client.sendCommand(["ACL", "SETUSER", "fleet", "on", ">secret", "+info", "+hello"]);
  await client.configSet("requirepass", "secret");
  const locked = await hedgerow(["fleet", "status", "--redis", redis.url]);
  expect(locked.err).toBe(
    "hedgerow: Redis: expected a user and a password in --redis: redis://user:password@host:port\n",
  );
  const user = `redis://fleet:secret@127.0.0.1:${redis.port}`;
  const forbidden = await hedgerow(["fleet", "status", "--redis", user]);
  expect(forbidden.err).toMatch(/^hedgerow: Redis: NOPERM .*: connect as a user who may use /);
  const closing = createServer((socket) => socket.destroy());
  const { port } = await listening(closing);
  onTestFinished(() => closed(closing));
  const secure = await hedgerow(["fleet", "status", "--redis", `redis://127.0.0.1:${port}`]);
  expect(secure.err).toMatch(/^hedgerow: Redis: the server closed .* pass rediss:\/\/host:port$/m);
});

test("refuses an identity that no host can report", async () => {
  for (const [args, message] of [
    [["place", DIGEST.slice(0, 12), "--redis", "redis://127.0.0.1:1"], "64 lower-case hexadecimal"],
  ] as const) {
    const { code, err } = await hedgerow(["fleet", ...args]);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  }
});

test("says that Redis is away, or that a URL is invalid, without its password", async () => {
  const port = await freePort();
  for (const [url, code, message] of [
    [`redis://:secret@127.0.0.1:${port}`, "ERR_ENGINE", /^Redis: connect ECONNREFUSED/],
    ["http://:secret@127.0.0.1", "ERR_USAGE", /^--redis: expected redis:\/\/host:port/],
  ] as const) {
    const { err } = await hedgerow(["fleet", "status", "--redis", url, "--json"]);
    const { error } = JSON.parse(err);
    expect(error).toEqual({ code, message: expect.stringMatching(message) });
    expect(err).not.toContain("secret");
  }
  expect((await hedgerow(["fleet", "status"])).err).toMatch(/expected --redis, or REDIS_URL/);
});

const host = (id: string, load: number, available: boolean) => ({
  ...{ id, load, available },
  capacity: 1,
});
