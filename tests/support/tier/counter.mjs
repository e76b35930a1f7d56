// A TCP proxy that counts the bytes that a server sends, and the requests for them.
import { once } from "node:events";
import { connect, createServer } from "node:net";

/** How the requests begin that are counted. */
const REQUEST = "GET ";

/** @typedef {Awaited<ReturnType<typeof startCounter>>} Counter */

/** Starts a proxy of a server. @param {URL} target */
export async function startCounter(target) {
  let [bytes, requests] = [0, 0];
  /** @type {Set<import("node:net").Socket>} */
  const sockets = new Set();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
    }
    upstream.on("data", (chunk) => {
      bytes += chunk.length;
    });
    client.on("data", (chunk) => {
      // A request without a body comes as one piece.
      if (chunk.toString("latin1", 0, REQUEST.length) === REQUEST) requests += 1;
    });
    client.on("error", () => upstream.destroy()).pipe(upstream);
    upstream.on("error", () => client.destroy()).pipe(client);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return {
    url: new URL(`http://127.0.0.1:${port}`),
    /** Returns the number of bytes that the server has sent. */
    bytes: () => bytes,
    /** Returns the number of `GET` requests that the server has received. */
    requests: () => requests,
    async close() {
      if (!server.listening) return;
      const end = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await end;
    },
  };
}
