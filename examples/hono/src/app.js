// The app. It is the entry of the worker; on Node, `node.js` serves it.
import { PathSet, preset } from "hedgerow";
import { hedgerow } from "hedgerow/hono";
import { Hono } from "hono";

/** Stands in for a database. */
const plants = new Map([
  ["hawthorn", "Has thorns, and birds."],
  ["hazel", "Has nuts, and dormice."],
]);
const paths = ["/", "/headers", ...[...plants.keys()].map((name) => `/plants/${name}`)];

const app = new Hono();
app.use(
  hedgerow({
    headers: {
      requests: ["x-internal-*", ...preset("next", "requests")],
      responses: ["x-internal-*", ...preset("next", "responses")],
    },
    paths: new PathSet(paths),
  }),
);
app.get("/", (c) => c.text("What grows in a hedge\n"));
app.get("/plants/:name", (c) => c.text(`${plants.get(c.req.param("name"))}\n`));
app.get("/headers", (c) => {
  c.header("x-internal-node", "7");
  return c.json(c.req.header());
});

export default app;
