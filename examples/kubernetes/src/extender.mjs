// A scheduler extender: prefers nodes that have the image of a pod, as agents report it.
import { RequestShares, Residency } from "@hedgerow/fleet";

import { connectEngine } from "./engine.mjs";
import { numberIn, run, variable } from "./environment.mjs";
import { readArguments } from "./extender/arguments.mjs";
import { scoresOf } from "./extender/scores.mjs";
import { jsonServer, listen, RequestError, readJson } from "./http.mjs";

/** The maximum length of a request, in bytes: enough for the names of all nodes. */
const MAX_BODY = 8 * 2 ** 20;

/** The maximum number of connections. The scheduler keeps a few open. */
const MAX_CONNECTIONS = 64;

async function main() {
  const annotation = variable("ANNOTATION", "hedgerow.example/image");
  const client = connectEngine(variable("ENGINE_URL"));
  const onError = (/** @type {Error} */ error) => console.error(error.message);
  const residency = await Residency.watch({ client, onError });
  const shares = new RequestShares();

  /** @param {import("node:http").IncomingMessage} request */
  const prioritize = async (request) => {
    const { names, digest } = readArguments(await readJson(request, MAX_BODY), annotation);
    const now = performance.now();
    if (digest !== undefined) shares.add(digest, now);
    return scoresOf(names, digest, residency, digest === undefined ? 0 : shares.of(digest, now));
  };

  const server = jsonServer((request) => {
    const route = `${request.method} ${request.url}`;
    if (route === "POST /prioritize") return prioritize(request);
    // It is healthy without the engine, too: all scores are then equal.
    if (route === "GET /healthz") return { isCurrent: residency.isCurrent };
    throw new RequestError(404, "ERR_ROUTE", "expected POST /prioritize or GET /healthz");
  }, MAX_CONNECTIONS);
  const url = await listen(server, { port: numberIn("PORT", 8080), host: process.env.HOST });
  console.log(`the extender listens at ${url}`);

  process.once("SIGTERM", async () => {
    server.close();
    server.closeIdleConnections();
    await residency.close();
    client.destroy();
  });
}

await run(main);
