/** A Hono app in front of an origin, with the rules of its bindings. */
import { type HonoOptions, hedgerow } from "hedgerow/hono";
import { Hono } from "hono";

let app: Hono | undefined;

function appOf(options: HonoOptions): Hono {
  const app = new Hono();
  app.use(hedgerow(options));
  app.all("/*", (c) => fetch(c.req.raw));
  return app;
}

export default {
  fetch(request: Request, env: { OPTIONS: HonoOptions }): Response | Promise<Response> {
    app ??= appOf(env.OPTIONS);
    return app.fetch(request, env);
  },
};
