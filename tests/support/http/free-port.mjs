import { once } from "node:events";
import { createServer } from "node:net";

/** Returns a port that nothing listens on, for programs that cannot choose one. @returns {Promise<number>} */
export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  server.close();
  await once(server, "close");
  return port;
}
