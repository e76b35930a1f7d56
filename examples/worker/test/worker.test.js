import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, test } from "node:test";
import { unstable_startWorker } from "wrangler";

/** Returns the fields that it receives, and an internal one. */
const origin = createServer(({ headers }, response) => {
  response.setHeader("x-internal-node", "7").end(JSON.stringify(headers));
}).listen(0, "127.0.0.1");
await once(origin, "listening");

const worker = await unstable_startWorker({
  config: "wrangler.jsonc",
  bindings: {
    ORIGIN: { type: "plain_text", value: `http://127.0.0.1:${origin.address().port}` },
  },
  dev: { inspector: false, logLevel: "error", server: { port: 0 } },
});
after(async () => {
  await worker.dispose();
  origin.close();
});

test("strips internal headers both ways, and refuses paths that do not exist", async () => {
  const headers = { "x-internal-user": "admin", "x-kept": "1" };
  const response = await worker.fetch("http://localhost/about", { headers });
  const arrived = await response.json();
  assert.equal(arrived["x-kept"], "1");
  assert.equal(arrived["x-internal-user"], undefined);
  assert.equal(response.headers.get("x-internal-node"), null);
  assert.equal((await worker.fetch("http://localhost/blog/hedges")).status, 200);
  assert.equal((await worker.fetch("http://localhost/wp-login.php")).status, 404);
});
