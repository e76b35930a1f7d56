import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { after, test } from "node:test";

const server = spawn(process.execPath, ["src/server.js"], {
  env: { ...process.env, PORT: "0" },
  stdio: ["ignore", "pipe", "inherit"],
});
after(() => server.kill());
const [line] = await once(server.stdout, "data");
const url = String(line).trim();

test("strips internal headers both ways, and refuses paths that do not exist", async () => {
  const forged = { "X-Internal-User": "admin", "x-middleware-subrequest": "src/middleware" };
  const headers = { ...forged, "x-kept": "1" };
  const response = await fetch(`${url}/headers`, { headers });
  const arrived = await response.json();
  assert.equal(arrived["x-kept"], "1");
  const names = [...Object.keys(arrived), ...response.headers.keys()];
  assert.deepEqual(
    names.filter((name) => /^x-(internal|middleware)-/i.test(name)),
    [],
  );
  for (const path of ["/plants/hawthorn", "/plants/hazel"]) {
    assert.equal((await fetch(`${url}${path}`)).status, 200, path);
  }
  for (const path of ["/plants/oak", "/plants", "/wp-login.php"]) {
    assert.equal((await fetch(`${url}${path}`)).status, 404, path);
  }
});
