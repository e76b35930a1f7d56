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
  type StoreCheck,
  verifySnapshot,
} from "@hedgerow/snapshot";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";

import { writePart, writtenPart } from "../../../../tests/support/parts.mjs";
import {
  SERVERS,
  type ServerName,
  type ServiceServer,
} from "../../../../tests/support/services.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { expectSame, noise } from "../../../../tests/support/snapshots/image.js";
import { textsIn } from "../support/error-texts.js";
import { ext4Disk, memoryDisk, xfsDisk } from "../support/loop-disk.js";
import { refusalOf } from "../support/refusal.js";
import {
  BLOCK,
  fillBlock,
  lettersOf,
  namesIn,
  openStore,
  whileAttached,
} from "../support/stores.js";

const MIB = 2 ** 20;

const path = temporaryFolder();

/** The document and the name of the table of guarantees. `ACCEPT_GUARANTEES=1` writes it from the results. */
const TABLE = ["docs/guides/stores.md", "guarantees"] as const;

/** The results for each place, in the order of the columns of the table. */
const found = new Map<string, readonly StoreCheck[]>();

/** Throws unless a place can be used for everything. */
async function expectGuarantees(name: string, place: string, options: ServiceServer["options"]) {
  const { works, checks } = await checkStore(place, options);
  found.set(name, checks);
  expect(works, JSON.stringify(checks)).toEqual({ restore: true, create: true, disks: true });
}

/** Returns the table of the guide. */
function tableOf(places: ReadonlyMap<string, readonly StoreCheck[]>): string {
  const columns = [...places];
  const lines = (columns[0]?.[1] ?? []).map(({ name, uses }, row) => {
    const cells = columns.map(([, checks]) => (checks[row]?.ok ? "yes" : "no"));
    return `| ${[name, uses.join(", ") || "—", ...cells].join(" | ")} |`;
  });
  return [
    `| guarantee | needed for | ${columns.map(([name]) => name).join(" | ")} |`,
    `|---|---|${"---|".repeat(columns.length)}`,
    ...lines,
    "",
  ].join("\n");
}

const FOLDERS = {
  "a folder on ext4": ext4Disk(64 * MIB),
  "a folder on XFS": xfsDisk(320 * MIB),
  "a folder on tmpfs": memoryDisk(64 * MIB),
};

test.each(Object.entries(FOLDERS))("%s has the guarantees that are needed", (name, disk) =>
  expectGuarantees(name, disk.path("store"), {}),
);

describe.each(Object.keys(SERVERS) as ServerName[])("%s", (name) => {
  let server: ServiceServer;

  beforeAll(async () => {
    server = await SERVERS[name]();
  });
  afterAll(() => server?.close());

  const options = () => ({ workers: 1, ...server.options });

  test("has the guarantees that are needed", () =>
    expectGuarantees(name, `${server.bucket}/check`, server.options));

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

  test("keeps nothing of an upload that was aborted", async () => {
    writeFileSync(path("large"), noise("large", 24 * MIB));
    const controller = new AbortController();
    const reason = new Error("enough");
    const made = createSnapshot(path("large"), `${server.bucket}/aborted.vhs`, {
      ...options(),
      ...{ partSize: 5 * MIB, connections: 2, signal: controller.signal },
      onProgress: ({ bytes }) => {
        if (bytes > 12 * MIB) controller.abort(reason);
      },
    });
    await expect(made).rejects.toBe(reason);
    expect(await server.keys("aborted")).toEqual([]);
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
    writeFileSync(path("image"), noise("image", 2 * MIB));
    await createSnapshot(path("image"), `${server.bucket}/from.vhs`, options());
    await store.create("carol", { from: `${server.bucket}/from.vhs` });
    await store.verify("carol");
    await store.remove("carol");
    await store.collect();
    await store.verify("bob");
    expect(await namesIn(store)).toEqual(["bob"]);
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

test("the guide says which guarantees each place has", () => {
  const table = tableOf(found);
  if (process.env.ACCEPT_GUARANTEES) writePart(...TABLE, table);
  expect(writtenPart(...TABLE)).toBe(table);
});
