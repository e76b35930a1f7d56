/** The Kubernetes example: three agents and the extender, with Redis, and messages of a real scheduler. */
import { readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";

import { Cluster, IMAGE_SIZE } from "../support/kubernetes/cluster.js";
import { ask, post } from "../support/kubernetes/program.js";
import { temporaryFolder } from "../support/snapshots/folder.js";
import { expectSame } from "../support/snapshots/image.js";

const path = temporaryFolder();
let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.start(path, ["one", "two", "three"]);
});
afterAll(() => cluster?.close());

test("a node that has the image of a pod gets the highest score, in both forms of a request", async () => {
  const { digests } = cluster;
  const filled = { digest: digests.one, hit: false, size: IMAGE_SIZE };
  expect(await cluster.restore("node-a", "one")).toEqual({ status: 200, body: filled });
  expect((await cluster.restore("node-b", "two")).status).toBe(200);
  await cluster.expectScores("one", 10, 0, 0);
  await cluster.expectScores("two", 0, 10, 0);
  expect(await cluster.scores(cluster.argumentsFor(digests.one, false))).toEqual([10, 0, 0]);
});

test("the copies of a node are its load, which makes another node with the image better", async () => {
  const copy = path("node-a", "copies", "sandbox-1.img");
  const { body } = await cluster.restore("node-a", "one", "sandbox-1.img");
  expect(body).toMatchObject({ hit: true, copy: "sandbox-1.img" });
  expectSame(readFileSync(copy), readFileSync(path("one.img")));
  expect(statSync(copy).mode & 0o777).toBe(0o600);
  expect((await cluster.restore("node-c", "one")).status).toBe(200);
  await cluster.expectScores("one", 0, 0, 10);
  rmSync(copy);
  const args = cluster.argumentsFor(cluster.digests.one);
  const sorted = async () => (await cluster.scores(args)).sort((one, two) => one - two);
  await expect.poll(sorted, { timeout: 30_000, interval: 20 }).toEqual([0, 6, 10]);
});

test("many requests for a cold image of a node fill it once", async () => {
  const { origin } = cluster;
  const before = origin.bytesSent;
  const copies = Array.from({ length: 8 }, (_, index) => `many-${index}.img`);
  const answers = await Promise.all(copies.map((copy) => cluster.restore("node-b", "three", copy)));
  expect(answers.map(({ status }) => status)).toEqual(copies.map(() => 200));
  // The end of the snapshot may be sent twice.
  expect(origin.bytesSent - before).toBeLessThan(1.5 * statSync(path("three.vhs")).size);
  for (const copy of copies) rmSync(path("node-b", "copies", copy));
});

test("an agent accepts only sources below its prefixes, and names of new copies", async () => {
  const base = cluster.source();
  const valid = { source: cluster.source("one"), digest: cluster.digests.one };
  const invalid: unknown[] = ["", "{", "null", "[]", { ...valid, force: true }, { digest: "a" }];
  for (const digest of ["", "0".repeat(63), "A".repeat(64), [valid.digest], 1, null])
    invalid.push({ ...valid, digest });
  const rests = ["", "../a", "a/../b", "..%2fa", ".a", "a?b", "a#b", "a//b", "a/", "a\n"];
  const sources = ["/etc/passwd", "s3://bucket/one", "http://127.0.0.1/", 1, null];
  for (const source of [...sources, ...rests.map((rest) => base + rest)])
    invalid.push({ ...valid, source });
  for (const copyTo of ["../a", "/a", "a/b", ".a", "", "a\n", "a".repeat(129), 1, null])
    invalid.push({ ...valid, copyTo });
  const expectRefused = async (body: unknown, status: number, code: string) => {
    const answer = await ask(cluster.socket("node-c"), body);
    expect([body, answer.status, answer.body.error?.code]).toEqual([body, status, code]);
  };
  for (const body of invalid) await expectRefused(body, 400, "ERR_REQUEST");
  await expectRefused(" ".repeat(5_000), 413, "ERR_TOO_LARGE");
  await expectRefused({ ...valid, digest: "0".repeat(64) }, 502, "ERR_SNAPSHOT_DIGEST");
  const other = { source: cluster.source("none"), digest: "0".repeat(64) };
  await expectRefused(other, 502, "ERR_SOURCE");
  symlinkSync(path("outside"), path("node-c", "copies", "link"));
  await expectRefused({ ...valid, copyTo: "link" }, 409, "ERR_TARGET");
  for (const route of [["GET", "/images"] as const, ["PUT", "/"] as const])
    expect((await ask(cluster.socket("node-c"), "", route)).status).toBe(404);
  expect(statSync(cluster.socket("node-c")).mode & 0o777).toBe(0o600);
});

test("the extender rejects messages that are not of a scheduler, and goes on", async () => {
  const nodes = (name: unknown) => JSON.stringify({ Pod: {}, NodeNames: [name] });
  const invalid = ["", "{", "null", "[]", "{}", '{"Pod":{}}', '{"NodeNames":[]}'];
  invalid.push(nodes(1), nodes(""), nodes("a".repeat(254)), '{"Pod":{},"NodeNames":{}}');
  invalid.push('{"Pod":1,"NodeNames":[]}', '{"Pod":{},"Nodes":{"items":[{}]}}', "[".repeat(1e5));
  invalid.push(JSON.stringify({ Pod: {}, NodeNames: Array(20_001).fill("a") }));
  const url = `${cluster.extender.url}/prioritize`;
  for (const body of invalid) {
    const { status, body: answer } = await post(url, body);
    expect([body.slice(0, 100), status, answer.error?.code]).toEqual([
      body.slice(0, 100),
      400,
      "ERR_REQUEST",
    ]);
  }
  // The answer may be lost with the connection, while the rest is sent.
  const large = await post(url, " ".repeat(9 * 2 ** 20)).catch(() => ({ status: 413 }));
  expect(large.status).toBe(413);
  expect((await post(cluster.extender.url, "{}")).status).toBe(404);
  for (const digest of [undefined, "", "0".repeat(63), "x".repeat(10_000)])
    expect(await cluster.scores(cluster.argumentsFor(digest))).toEqual([0, 0, 0]);
  // An image that no node has is placed, too.
  const scores = await cluster.scores(cluster.argumentsFor("0".repeat(64)));
  expect(scores.sort((one, two) => one - two)).toEqual([0, 0, 10]);
});
