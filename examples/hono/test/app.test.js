import assert from "node:assert/strict";
import { test } from "node:test";

import app from "../src/app.js";

test("strips internal headers both ways, and refuses paths that do not exist", async () => {
  const headers = { "x-internal-user": "admin", "x-kept": "1" };
  const response = await app.request("/headers", { headers });
  assert.deepEqual(await response.json(), { "x-kept": "1" });
  assert.equal(response.headers.get("x-internal-node"), null);
  for (const path of ["/", "/plants/hawthorn", "/plants/hazel?of=a"]) {
    assert.equal((await app.request(path)).status, 200, path);
  }
  for (const path of ["/plants/oak", "/wp-login.php"]) {
    assert.equal((await app.request(path)).status, 404, path);
  }
});
