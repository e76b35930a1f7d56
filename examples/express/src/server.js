import { fileURLToPath } from "node:url";
import express from "express";
import { preset } from "hedgerow";
import { hedgerow } from "hedgerow/connect";
import { readPathFilterSync } from "hedgerow/node";

/** @param {string} name */
const here = (name) => fileURLToPath(new URL(`../${name}`, import.meta.url));

const app = express();
// First, so that no other middleware sees forged fields, and no client sees internal ones.
app.use(
  hedgerow({
    headers: {
      requests: ["x-internal-*", ...preset("next", "requests")],
      responses: ["x-internal-*", "x-powered-by", ...preset("next", "responses")],
    },
    paths: readPathFilterSync(here("paths.filter")),
  }),
);
app.use(express.static(here("public"), { extensions: ["html"] }));
app.get("/headers", (request, response) => {
  response.set("x-internal-node", "7").json(request.headers);
});
app.get("/account/:name", (request, response) => {
  response.type("text").send(`The account of ${request.params.name}\n`);
});

const port = Number(process.env.PORT ?? 8080);
const server = app.listen(port, "127.0.0.1", (error) => {
  if (error) throw error;
  const address = server.address();
  if (typeof address === "object") console.log(`http://127.0.0.1:${address?.port}`);
});
