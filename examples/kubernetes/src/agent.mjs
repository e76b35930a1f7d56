// The agent of a node: keeps images for its pods, and tells the fleet which ones it has.
import { once } from "node:events";
import { mkdirSync, readdirSync, rmSync, watch } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { reportResidency } from "@hedgerow/fleet";
import { ImageCache } from "@hedgerow/snapshot";

import { NodeImages } from "./agent/node-images.mjs";
import { readRequest } from "./agent/requests.mjs";
import { connectEngine } from "./engine.mjs";
import { numberIn, run, variable } from "./environment.mjs";
import { jsonServer, listen, listenAt, RequestError } from "./http.mjs";

/** The maximum number of connections to each server, and so of requests at a time. */
const MAX_CONNECTIONS = 64;

async function main() {
  const asked = once(process, "SIGTERM");
  // Everything that the agent makes is for its user alone, from the first moment.
  process.umask(0o077);
  const folder = variable("DATA", "/var/lib/hedgerow");
  const socket = variable("SOCKET", "/run/hedgerow/agent.sock");
  const prefixes = variable("SOURCES").split(" ");
  if (!prefixes.every((each) => each.endsWith("/")))
    throw new Error("SOURCES: expected a / at the end");

  const client = connectEngine(variable("ENGINE_URL"));
  const cache = await ImageCache.open(join(folder, "cache"), { maxBytes: numberIn("MAX_BYTES") });
  const copies = join(folder, "copies");
  mkdirSync(copies, { recursive: true });
  for (const name of readdirSync(copies)) {
    // An agent that was killed has left an incomplete copy.
    if (name.startsWith(".hedgerow-")) {
      rmSync(join(copies, name), { recursive: true, force: true });
    }
  }
  const ending = new AbortController();
  const onError = (/** @type {Error} */ error) => console.error(error.message);
  const images = new NodeImages(cache, copies, { client, onError }, ending.signal);
  let isDraining = false;
  const report = await reportResidency(cache, {
    client,
    host: variable("NODE_NAME"),
    ttl: numberIn("TTL", 30_000),
    status: () => ({ load: images.load, available: !isDraining }),
    onError,
  });
  const watcher = watch(copies, () => report.update());

  const pods = jsonServer(async (request) => {
    if (request.method !== "PUT" || request.url !== "/images") {
      throw new RequestError(404, "ERR_ROUTE", "expected PUT /images");
    }
    if (isDraining) throw new RequestError(503, "ERR_DRAINING", "the agent is ending");
    return images.get(await readRequest(request, prefixes));
  }, MAX_CONNECTIONS);
  await listenAt(pods, socket);

  const health = jsonServer(({ url }) => {
    if (url === "/readyz" && isDraining) throw new RequestError(503, "ERR_DRAINING", "draining");
    if (url === "/healthz" || url === "/readyz") return {};
    throw new RequestError(404, "ERR_ROUTE", "expected /healthz or /readyz");
  }, MAX_CONNECTIONS);
  const url = await listen(health, { port: numberIn("PORT", 8080), host: process.env.HOST });
  console.log(`the agent listens at ${socket}, its health is at ${url}`);

  await asked;
  isDraining = true;
  // Placers stop to choose the node while requests end.
  report.update();
  const ended = once(pods, "close");
  pods.close();
  pods.closeIdleConnections();
  const late = sleep(numberIn("DRAIN", 20_000), undefined, { signal: ending.signal });
  await Promise.race([images.settled(), late]);
  ending.abort();
  // All requests are answered now; connections that only stay open are closed.
  setTimeout(() => pods.closeAllConnections(), 1_000).unref();
  await ended;
  watcher.close();
  await report.close();
  await cache.close();
  client.destroy();
  health.close();
  health.closeAllConnections();
}

await run(main);
