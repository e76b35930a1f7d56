/** Servers on loopback, on a port that the system chooses. */
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo, Server as NetServer } from "node:net";

/** The address under which `server` listens from now on. */
export async function listening(server: NetServer, protocol = "http"): Promise<URL> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return urlOf(server, protocol);
}

export function urlOf(server: NetServer, protocol = "http"): URL {
  return new URL(`${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

/** Closes a server, and what is connected to it. */
export async function closed(server: NetServer): Promise<void> {
  const end = new Promise((resolve) => server.close(resolve));
  (server as Server).closeAllConnections?.();
  await end;
}

/** A server that calls `listener`. */
export async function serve(listener: RequestListener): Promise<{ server: Server; url: URL }> {
  const server = createServer(listener);
  return { server, url: await listening(server) };
}
