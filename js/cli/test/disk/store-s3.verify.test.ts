/** A store of disks in S3. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

import { type S3Server, startS3 } from "../../../../tests/support/s3/server.js";
import { attach, failure, json, makePlaces, readFrom, writeTo } from "../support/disk-store.js";
import { SMALL } from "../support/images.js";

const BLOCK = Buffer.alloc(4096, "new");

let s3: S3Server;
let credentials: NodeJS.ProcessEnv;
beforeAll(async () => {
  s3 = await startS3();
  const { accessKeyId, secretAccessKey } = s3.credentials;
  credentials = { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey };
});
afterAll(() => s3?.close());

test("moves a disk in S3 from one host to another, and leaves nothing when it is removed", async () => {
  const { root, image, socket, env: folders } = makePlaces();
  const env = { ...folders, ...credentials };
  const store = `s3://${s3.bucket}/disks`;
  const where = ["--endpoint", s3.endpoint.href, "--region", s3.region];
  const run = (...args: string[]) => json([...args, ...where], env);

  expect(await failure(["list", store, ...where], env)).toMatchObject({
    ...{ exit: 3, code: "ERR_STORE", message: `${store}: expected a store of disks, found none` },
  });
  expect(s3.objects()).toEqual([]);
  await run("create", store, "alice", "--image", image);
  expect(await run("list", store)).toEqual({ names: ["alice"] });

  const first = await attach([store, "alice", "--socket", socket, ...where], env);
  await writeTo(socket, BLOCK);
  // These two need neither credentials nor an endpoint.
  const saved = await json(["save", store, "alice", "--label", "x"], folders);
  expect(saved).toMatchObject({ number: 2, label: "x" });
  expect((await run("stat", store, "alice")).attached).toEqual({
    owner: expect.stringContaining(":"),
    epoch: 1,
  });
  await writeTo(socket, SMALL.subarray(0, 4096));

  const elsewhere = {
    ...env,
    XDG_STATE_HOME: join(root, "b"),
    XDG_RUNTIME_DIR: join(root, "state"),
  };
  const other = [store, "alice", "--socket", `${socket}2`, ...where];
  const refused = await failure(["attach", ...other], elsewhere);
  expect(refused).toMatchObject({ exit: 3, code: "ERR_ATTACHED" });
  const second = await attach([...other, "--steal"], elsewhere);
  expect((await readFrom(`${socket}2`, 4096)).equals(BLOCK)).toBe(true);
  const lost = await first.stop("SIGTERM");
  expect(lost.code).toBe(3);
  expect(lost.err).toMatch(
    /^hedgerow: alice is attached by .*: run "hedgerow disk recover s3:.* --as /m,
  );
  expect((await second.stop("SIGTERM")).code).toBe("SIGTERM");

  const { images } = await run("recover", store);
  expect(images).toMatchObject([{ name: "alice", generation: 1 }]);
  await run("recover", store, images[0].image, "--as", "bob");
  expect(await run("verify", store, "bob")).toMatchObject({ parent: { name: "alice" } });
  const { references } = await run("list", store, "--snapshot", saved.digest);
  expect(references).toEqual([{ name: "alice", generation: 2, as: "snapshot" }]);
  for (const name of ["alice", "bob"]) await run("remove", store, name);
  // The times of objects have whole seconds.
  const collect = () => run("collect", store, "--grace", "0ms");
  await vi.waitUntil(async () => (await collect()).snapshots === 0, { timeout: 30_000 });
  expect(s3.objects()).toEqual(["disks/hedgerow-disks.json"]);
});
