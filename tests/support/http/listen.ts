/** Servers on loopback, on any free port. */
import { once } from "node:events";
import { createServer, type RequestListener, Server } from "node:http";
import type { AddressInfo, Server as NetServer } from "node:net";

export { freePort } from "./free-port.mjs";

/**
 * Keep-alive timeout of servers, in milliseconds: longer than tests run. A client that has to
 * wait for a processor may send a request just when its server gives up waiting, and finds the connection reset.
 */
export const KEEP_ALIVE = 3_600_000;

/** Makes `server` listen, and returns its URL. */
export async function listening(server: NetServer, protocol = "http"): Promise<URL> {
  if (server instanceof Server) server.keepAliveTimeout = KEEP_ALIVE;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return new URL(`${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

/** Closes a server and its connections. */
export async function closed(server: NetServer): Promise<void> {
  const end = new Promise((resolve) => server.close(resolve));
  (server as Server).closeAllConnections?.();
  await end;
}

/** Starts a server that calls `listener`. */
export async function serve(listener: RequestListener): Promise<{ server: Server; url: URL }> {
  const server = createServer(listener);
  return { server, url: await listening(server) };
}
