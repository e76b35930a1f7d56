/** Snapshots and stores of disks in each object service, and in folders. */
import { readFileSync, writeFileSync } from "node:fs";
import {
  checkStore,
  createSnapshot,
  flattenSnapshot,
  ImageCache,
  inspectSnapshot,
  openSnapshot,
  restoreSnapshot,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import {
  SERVERS,
  type ServerName,
  type ServiceServer,
} from "../../../../tests/support/services.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { textsIn } from "../support/error-texts.js";
import { refusalOf } from "../support/refusal.js";
import { BLOCK, fillBlock, lettersOf, openStore, whileAttached } from "../support/stores.js";

const MIB = 2 ** 20;

const path = temporaryFolder();

/** What the servers of tests lack. */
const LACKING: Readonly<Partial<Record<ServerName, readonly string[]>>> = {
  Azurite: ["copies objects within the service"],
  "fake-gcs-server": [
    "refuses a range of an object that was replaced",
    "copies objects within the service",
  ],
};

const lackingOf = async (place: string, options: ServiceServer["options"]) => {
  const { works, checks } = await checkStore(place, options);
  expect(works).toEqual({ restore: true, create: true, disks: true });
  return checks.filter(({ ok }) => !ok).map(({ name }) => name);
};

test("a folder has every guarantee but copies", async () => {
  expect(await lackingOf(path("folder"), {})).toEqual(["copies objects within the service"]);
});

describe.each(Object.keys(SERVERS) as ServerName[])("%s", (name) => {
  let server: ServiceServer;

  beforeAll(async () => {
    server = await SERVERS[name]();
  });
  afterAll(() => server?.close());

  const options = () => ({ workers: 1, ...server.options });

  test("has the guarantees that are needed", async () => {
    const place = `${server.bucket}/check`;
    expect(await lackingOf(place, server.options)).toEqual(LACKING[name] ?? []);
  });

  test("holds a snapshot and its delta, wherever a URL is taken", async () => {
    const [base, next] = [path("base"), path("next")];
    const bytes = Buffer.concat([noise("first", 9 * MIB), Buffer.alloc(4 * MIB)]);
    writeFileSync(base, bytes);
    writeFileSync(next, Buffer.concat([bytes, noise("more", MIB)]));
    const at = (key: string) => `${server.bucket}/folder ü/${key}`;
    const full = await createSnapshot(base, at("full.vhs"), { ...options(), verify: true });
    await createSnapshot(next, at("delta.vhs"), { ...options(), base: at("full.vhs") });

    const { delta } = await inspectSnapshot(at("delta.vhs"), server.options);
    expect(delta?.objects).toEqual([expect.objectContaining({ digest: full.digest })]);
    await verifySnapshot(at("delta.vhs"), options());
    await restoreSnapshot(at("delta.vhs"), path("restored"), { ...options(), overwrite: true });
    expectSame(readFileSync(path("restored")), readFileSync(next));
    await flattenSnapshot(at("delta.vhs"), at("flat.vhs"), options());
    await using cache = await ImageCache.open(path(`cache-${name}`), { maxBytes: 64 * MIB });
    await using cached = await cache.get(at("flat.vhs"), options());
    expectSame(readFileSync(cached.path), readFileSync(next));
    const disk = await openSnapshot(at("delta.vhs"), { ...options(), image: path(`disk-${name}`) });
    onTestFinished(() => disk.close());
    expectSame(await disk.read(13 * MIB, MIB), noise("more", MIB));
  });

  test("keeps a snapshot that must not be replaced", async () => {
    writeFileSync(path("small"), noise("small", MIB));
    const place = `${server.bucket}/kept.vhs`;
    const { digest } = await createSnapshot(path("small"), place, options());
    writeFileSync(path("other"), noise("other", MIB));
    const again = createSnapshot(path("other"), place, { ...options(), overwrite: false });
    const error = await refusalOf(again, "ERR_TARGET");
    expect(error.message).toContain("destination already exists");
    expect((await inspectSnapshot(place, server.options)).digest).toBe(digest);
  });

  test("keeps disks, which hosts attach, save, fork and remove", async () => {
    const place = `${server.bucket}/disks`;
    const open = () => openStore(place, { images: path("images"), ...server.options });
    const [store, other] = [await open(), await open()];
    onTestFinished(() => Promise.all([store.close(), other.close()]).then(() => {}));
    await store.create("alice", { size: 4 * BLOCK });
    const disk = await store.attach("alice");
    await refusalOf(other.attach("alice"), "ERR_ATTACHED");
    await fillBlock(disk, 1, "a");
    await disk.save();
    await fillBlock(disk, 2, "b");
    await disk.detach();
    await other.fork("alice", ["bob"]);
    await other.rollback("alice", 2);
    expect(await whileAttached(other, "alice", lettersOf)).toBe(".a..");
    expect(await whileAttached(store, "bob", lettersOf)).toBe(".ab.");
    await store.remove("alice");
    await store.collect();
    await store.verify("bob");
    const names = [];
    for await (const found of store.list()) names.push(found);
    expect(names).toEqual(["bob"]);
  });

  test("names what is missing, without secrets", async () => {
    const none = `${server.bucket}/none.vhs`;
    const missing = await refusalOf(inspectSnapshot(none, server.options), "ERR_SOURCE");
    expect(missing.message).toContain(none);
    expect(missing.status).toBe(404);
    writeFileSync(path("image"), noise("image", 1000));
    const bucket = `${server.bucket}-none`;
    const refused = await refusalOf(
      createSnapshot(path("image"), `${bucket}/a.vhs`, { ...options(), retries: 0 }),
      "ERR_TARGET",
    );
    expect(refused.message).toContain("does not exist");
    for (const secret of server.secrets)
      for (const error of [missing, refused]) expect(textsIn(error)).not.toContain(secret);
  });
});
