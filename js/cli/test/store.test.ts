/** `hedgerow store check`, on a folder, and on a service that lacks what disks need. */
import { readdirSync } from "node:fs";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { startFakeS3 } from "../../snapshot/test/support/fake-s3.js";
import { hedgerow } from "./support/bin.js";

const path = temporaryFolder();

test("prints what a folder guarantees, and leaves nothing in it", async () => {
  const { code, out, err } = await hedgerow(["store", "check", path("folder")]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^guarantee +holds +time +needed for +found\n/);
  expect(out).toMatch(/\nreplaces an object that has not changed +yes +\d+ ms +disks\n/);
  expect(out).toMatch(/\nrestore {2}works\ncreate {3}works\ndisks {4}works\n$/);
  expect(readdirSync(path("folder"))).toEqual([]);
});

test("ends with code 1 if a service lacks what a use needs, and says what", async () => {
  await using service = await startFakeS3("If-Match");
  const env = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" };
  const args = ["store", "check", "s3://bucket/disks", "--endpoint", service.endpoint.href];
  const { code, out } = await hedgerow([...args, "--retries", "0", "--json"], "", env);
  expect(code).toBe(1);
  const { works, checks } = JSON.parse(out);
  expect(works.disks).toBe(false);
  expect(checks).toContainEqual(
    expect.objectContaining({
      name: "refuses to replace an object that has changed",
      ok: false,
      found: "replaced it: If-Match is ignored",
    }),
  );
});

test("refuses the URL of a web server", async () => {
  const { code, err } = await hedgerow(["store", "check", "https://example.invalid/disks"]);
  expect(code).toBe(2);
  expect(err).toContain("expected a folder or the URL of an object service");
});
