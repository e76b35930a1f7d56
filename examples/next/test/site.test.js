import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline/promises";
import { after, test } from "node:test";

const next = createRequire(import.meta.url).resolve("next/dist/bin/next");
const server = spawn(process.execPath, [next, "start", "--hostname", "127.0.0.1", "--port", "0"], {
  stdio: ["ignore", "pipe", "inherit"],
});
after(() => server.kill());
let url;
for await (const line of createInterface(server.stdout)) {
  url = /http:\S+/.exec(line)?.[0];
  if (url !== undefined) break;
}

test("strips internal headers both ways, and refuses paths that do not exist", async () => {
  const headers = { "x-internal-user": "admin", "x-kept": "1" };
  const response = await fetch(`${url}/headers`, { headers });
  const arrived = await response.json();
  assert.equal(arrived["x-kept"], "1");
  assert.equal(arrived["x-internal-user"], undefined);
  for (const path of ["/", "/plants/hazel", "/plants/hawthorn"]) {
    assert.equal((await fetch(`${url}${path}`)).status, 200, path);
  }
  for (const path of ["/plants/oak", "/plants", "/wp-login.php", "/_next/static/none.js"]) {
    assert.equal((await fetch(`${url}${path}`)).status, 404, path);
  }
});
