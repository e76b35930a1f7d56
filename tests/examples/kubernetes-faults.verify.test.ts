/** The Kubernetes example while its engine, its extender and its agents end. */
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";

import { Cluster } from "../support/kubernetes/cluster.js";
import { ask } from "../support/kubernetes/program.js";
import { temporaryFolder } from "../support/snapshots/folder.js";

const path = temporaryFolder();
let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.start(path, ["one", "two", "three"]);
  await cluster.restore("node-a", "one");
  await cluster.restore("node-b", "one");
  await cluster.restore("node-c", "two");
});
afterAll(() => cluster?.close());

test("without the engine all nodes are equal and images are filled; with it, all is known again", async () => {
  await cluster.expectScores("two", 0, 0, 10);
  await cluster.redis.stop();
  await cluster.expectScores("two", 0, 0, 0);
  expect((await cluster.restore("node-c", "three")).status).toBe(200);
  await cluster.redis.restart();
  await cluster.expectScores("two", 0, 0, 10);
  await cluster.expectScores("three", 0, 0, 10);
});

test("an agent that is killed is forgotten after its TTL", async () => {
  cluster.agent("node-c").signal("SIGKILL");
  expect(await cluster.agent("node-c").ended).not.toBe(0);
  const args = cluster.argumentsFor(cluster.digests.two);
  // Its image is on no other node: another one is chosen.
  const ofKilled = async () => (await cluster.scores(args))[2];
  await expect.poll(ofKilled, { timeout: 30_000, interval: 50 }).toBe(0);
});

test("an agent that ends is not chosen any more, answers its requests, and leaves the fleet", async () => {
  const agent = cluster.agent("node-a");
  // A pod that only connects does not keep the agent.
  const silent = connect(cluster.socket("node-a"));
  await once(silent, "connect");
  silent.on("error", () => {});
  const before = cluster.requestCount;
  let release = () => {};
  cluster.held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const restored = cluster.restore("node-a", "three");
  const requests = () => cluster.requestCount;
  await expect.poll(requests, { timeout: 30_000, interval: 5 }).toBeGreaterThan(before);
  agent.signal("SIGTERM");
  await cluster.expectScores("one", 0, 10, 0);
  expect((await fetch(`${agent.url}/readyz`)).status).toBe(503);
  expect((await fetch(`${agent.url}/healthz`)).status).toBe(200);
  await expect(ask(cluster.socket("node-a"), {})).rejects.toThrow();
  release();
  expect((await restored).status).toBe(200);
  expect(await agent.ended, agent.printed).toBe(0);
  expect(existsSync(cluster.socket("node-a"))).toBe(false);
  await cluster.expectScores("one", 0, 10, 0);
});

test("the extender ends when it is asked to", async () => {
  cluster.extender.signal("SIGTERM");
  expect(await cluster.extender.ended, cluster.extender.printed).toBe(0);
});
