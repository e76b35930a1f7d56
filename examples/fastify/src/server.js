import { readFile } from "node:fs/promises";
import Fastify from "fastify";
import { preset } from "hedgerow";
import { hedgerow } from "hedgerow/fastify";
import { readPathFilterSync } from "hedgerow/node";

const app = Fastify();
// First, so that no other hook sees forged fields or requests for absent paths.
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
// A filter can report an absent path as present, so still check the name.
app.get("/plants/:name(^[a-z]+$)", async (request) => {
  const { name } = /** @type {{ name: string }} */ (request.params);
  return JSON.parse(await readFile(new URL(`../plants/${name}.json`, import.meta.url), "utf8"));
});

console.log(await app.listen({ host: "127.0.0.1", port: Number(process.env.PORT ?? 8080) }));
