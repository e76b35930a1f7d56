import { serve } from "@hono/node-server";

import app from "./app.js";

const port = Number(process.env.PORT ?? 8080);
serve({ fetch: app.fetch, hostname: "127.0.0.1", port }, (address) => {
  console.log(`http://127.0.0.1:${address.port}`);
});
