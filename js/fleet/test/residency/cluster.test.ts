/** A cluster in place of one server. */
import { createCluster } from "@redis/client";
import { expect, onTestFinished, test } from "vitest";

import { fillLease } from "../../src/fill-lease.js";
import { reportResidency } from "../../src/residency/report.js";
import { Residency } from "../../src/residency/residency.js";
import { untilShown, watching } from "../support/pictures.js";
import { connectTo, type Redis, until } from "../support/redis.js";
import { startCluster } from "../support/redis-cluster.js";
import { StubCache } from "../support/stub-cache.js";

async function connectToCluster([first]: readonly Redis[]) {
  const socket = { reconnectStrategy: 50, connectTimeout: 1_000 };
  const client = createCluster({ rootNodes: [{ url: first!.url }], defaults: { socket } });
  onTestFinished(() => client.destroy());
  return client.on("error", () => {}).connect();
}

test("shares residency and slots through a cluster, and recovers when it was down", async () => {
  const servers = await startCluster();
  const client = await connectToCluster(servers);
  const errors: Error[] = [];
  const onError = (error: Error) => errors.push(error);
  const residency = await watching({ client, onError });
  const cache = new StubCache();
  const digest = cache.fill(1);
  const report = await reportResidency(cache.asCache, {
    client,
    host: "one",
    interval: 10,
    ttl: 900,
    onError,
  });
  await untilShown(residency, { one: [digest] });
  const taken = await Promise.all(
    [1, 2].map(() => fillLease("image", { client, slots: 1, maxWait: 0 })),
  );
  expect(taken.map(({ reason }) => reason).sort()).toEqual(["slot", "timeout"]);
  expect(errors).toEqual([]);
  const keys = await Promise.all(servers.map(async ({ url }) => (await connectTo(url)).dbSize()));
  expect(keys.filter((count) => count !== 0)).toHaveLength(1);
  const owner = await connectTo(servers[keys.findIndex((count) => count !== 0)]!.url);
  const slot = String(await owner.sendCommand(["CLUSTER", "KEYSLOT", "{hedgerow}"]));
  await owner.sendCommand(["CLUSTER", "DELSLOTS", slot]);
  const other = cache.fill(2);
  await until("an error", () => errors.some(({ message }) => message.includes("CLUSTERDOWN")));
  await owner.sendCommand(["CLUSTER", "ADDSLOTS", slot]);
  await untilShown(residency, { one: [digest, other] });
  await report.close();
  await untilShown(residency, {});
});

test("says what to do with a client of one node of a cluster", async () => {
  const servers = await startCluster();
  const messages: string[] = [];
  for (const { url } of servers) {
    const client = await connectTo(url);
    const onError = ({ message }: Error) => messages.push(message);
    const residency = await Residency.watch({ client, onError });
    await residency.close();
  }
  expect(messages).toHaveLength(2);
  const moved =
    /^Redis: .*MOVED \d+ 127.*: the server is one node of a cluster: pass a client of createCluster$/;
  for (const message of messages) expect(message).toMatch(moved);
});
