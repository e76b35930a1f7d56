/** An endpoint in front of servers, as a load balancer is: new connections go where it leads, old ones stay. */
import { connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

import { closed, listening } from "../../../../tests/support/http/listen.js";
import type { Redis } from "./redis.js";

export interface Endpoint {
  readonly url: string;
  /** Leads new connections to a server. */
  leadTo(server: Redis): void;
}

/** Starts an endpoint, which ends with the test. */
export async function startEndpoint(first: Redis): Promise<Endpoint> {
  let { port: target } = first;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const other = connect(target, "127.0.0.1");
    for (const [one, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(one);
      one.on("error", () => {}).on("close", () => to.destroy());
      one.pipe(to);
    }
  });
  const { port } = await listening(server);
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await closed(server);
  });
  return {
    url: `redis://127.0.0.1:${port}`,
    leadTo({ port: next }) {
      target = next;
    },
  };
}
