import { readFile } from "node:fs/promises";
import Fastify from "fastify";
import { preset } from "hedgerow";
import { hedgerow } from "hedgerow/fastify";
import { readPathFilterSync } from "hedgerow/node";

const app = Fastify();
// Before all else, so that no hook sees what a client forged, nor looks for what is not there.
await app.register(hedgerow, {
  headers: {
    requests: ["x-internal-*", ...preset("next", "requests")],
    responses: ["x-internal-*", ...preset("next", "responses")],
  },
  paths: readPathFilterSync(new URL("../paths.filter", import.meta.url)),
});
app.get("/headers", async (request, reply) => {
  reply.header("x-internal-node", "7");
  return request.headers;
});
// A filter may take a path for one that exists: what is opened is still to be checked.
app.get("/plants/:name(^[a-z]+$)", async (request) => {
  const { name } = /** @type {{ name: string }} */ (request.params);
  return JSON.parse(await readFile(new URL(`../plants/${name}.json`, import.meta.url), "utf8"));
});

console.log(await app.listen({ host: "127.0.0.1", port: Number(process.env.PORT ?? 8080) }));
