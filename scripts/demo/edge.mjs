// An origin and clients on loopback, for the demos of edge workers.
import { once } from "node:events";
import http from "node:http";

/** Starts an origin. @param {http.RequestListener} listener */
export async function startOrigin(listener) {
  const server = http.createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = /** @type {import("node:net").AddressInfo} */ (server.address());
  return { url: `http://127.0.0.1:${port}`, close: () => server.close() };
}

/** @typedef {[name: string, value: string][]} Fields */

/**
 * Sends GET requests over 16 connections and returns the responses in the same order.
 *
 * @param {URL} url
 * @param {{ path: string, fields?: Fields }[]} requests
 */
export async function sendAll(url, requests) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
  const responses = await Promise.all(
    requests.map(async ({ path, fields = [] }) => {
      const headers = ["host", url.host, ...fields.flat()];
      const [response] = await once(http.get(url, { agent, path, headers }), "response");
      response.resume();
      await once(response, "end");
      return { status: response.statusCode, fields: fieldsOf(response) };
    }),
  );
  agent.destroy();
  return responses;
}

/** Returns the fields of a message, with names in lower case. @param {http.IncomingMessage} message */
export function fieldsOf({ rawHeaders: raw }) {
  const names = raw.filter((_, index) => index % 2 === 0);
  return /** @type {Fields} */ (
    names.map((name, index) => [name.toLowerCase(), raw[2 * index + 1] ?? ""])
  );
}
