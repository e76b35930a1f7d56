import { hedgerow } from "hedgerow/hono";
import { type Context, Hono } from "hono";
import { equal } from "../../support/assert.js";
import type { Cases } from "../case.js";
import {
  echo,
  forged,
  PATHS,
  ROLLOUT_REPORTS,
  RULES,
  received,
  reporting,
  stripped,
} from "./messages.js";

/** Creates an app with one route behind the middleware. */
function appOf(options: Parameters<typeof hedgerow>[0], answer: (c: Context) => Response) {
  const app = new Hono();
  app.use(hedgerow(options));
  app.get("/about", answer);
  return app;
}

export const honoAdapter: Cases = {
  "hedgerow/hono strips internal fields from requests and responses": async () => {
    const app = appOf({ headers: RULES }, (c) => echo(c.req.raw));
    equal(await received(await app.request(forged("/about"))), stripped());
  },

  "hedgerow/hono strips the fields that Hono's helpers read": async () => {
    const app = appOf({ headers: RULES }, (c) => {
      const one = c.req.header("X-Internal-User") ?? "none";
      return c.json([one, Object.keys(c.req.header()).sort()]);
    });
    const response = await app.request(forged("/about"));
    equal(await response.json(), ["none", ["accept", "x-public"]]);
  },

  "hedgerow/hono answers 404 for absent paths without calling the app": async () => {
    const app = appOf({ paths: PATHS }, (c) => c.text("there"));
    app.notFound((c) => c.text("the app's own", 404));
    equal(await (await app.request(forged("/about"))).text(), "there");
    const absent = await app.request(forged("/wp-login.php"));
    equal([absent.status, await absent.text()], [404, "the app's own"]);
  },

  "hedgerow/hono changes nothing in a dry run, and reports what it would do": async () => {
    const { options, reports } = reporting({ headers: RULES, paths: PATHS, dryRun: true });
    const app = new Hono();
    app.use(hedgerow(options));
    app.get("*", (c) => echo(c.req.raw));
    const { seen, sent, status } = await received(await app.request(forged("/wp-login.php")));
    equal([seen.includes("x-internal-user"), sent], [true, ["x-internal-node", "x-public"]]);
    equal(status, 200);
    equal(reports, ROLLOUT_REPORTS);
  },

  "hedgerow/hono leaves the fields of trusted requests alone": async () => {
    const app = appOf({ headers: RULES, trust: (c) => c.req.path === "/about" }, (c) =>
      echo(c.req.raw),
    );
    const { seen, sent } = await received(await app.request(forged("/about")));
    equal([seen.includes("x-internal-user"), sent], [true, ["x-public"]]);
  },
};
