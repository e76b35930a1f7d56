/** A cluster of three Redis servers. */
import { onTestFinished } from "vitest";

import { freePort } from "../../../../tests/support/http/listen.js";
import { connectTo, Redis, until } from "./redis.js";

const SLOTS = 16_384;

/** Starts three servers, each with a third of the slots, until the test ends. */
export async function startCluster(): Promise<Redis[]> {
  const servers: Redis[] = [];
  for (let index = 0; index < 3; index += 1) {
    const bus = `${await freePort()}`;
    const server = await Redis.start("--cluster-enabled", "yes", "--cluster-port", bus);
    onTestFinished(() => server.close());
    servers.push(server);
    const client = await connectTo(server.url);
    const [from, to] = [index, index + 1].map((part) => Math.ceil((part * SLOTS) / 3));
    await client.sendCommand(["CLUSTER", "ADDSLOTSRANGE", `${from}`, `${to! - 1}`]);
    await client.sendCommand(["CLUSTER", "SET-CONFIG-EPOCH", `${index + 1}`]);
    if (index === 0) continue;
    const [first] = servers as [Redis];
    const port = await (await connectTo(first.url)).configGet("cluster-port");
    const meet = ["CLUSTER", "MEET", "127.0.0.1", `${first.port}`, String(port["cluster-port"])];
    await client.sendCommand(meet);
  }
  for (const { url } of servers) {
    const client = await connectTo(url);
    const isReady = async () => {
      const info = String(await client.sendCommand(["CLUSTER", "INFO"]));
      return info.includes("cluster_state:ok") && info.includes("cluster_known_nodes:3");
    };
    await until("the cluster", isReady);
  }
  return servers;
}
