/** Names, labels and other arguments: limits at both sides, and nothing that leads out of a store. */
import { DiskStore } from "@hedgerow/snapshot";
import { beforeAll, expect, test } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { refusalOf } from "../support/refusal.js";
import { BLOCK, whileAttached } from "../support/stores.js";

const path = temporaryFolder();
let store: DiskStore;

beforeAll(async () => {
  store = await DiskStore.open(path("store"), { images: path("images") });
  await store.create("a", { size: BLOCK });
});

test.each(["b", "0", "B.x_y-z", "a".repeat(128), "a..b"])("accepts the name %s", async (name) => {
  await store.fork("a", name);
  await whileAttached(store, name, (disk) => disk.read(0, 1));
  await store.remove(name);
});

const INVALID = [
  "",
  ".",
  "..",
  "../a",
  "a/b",
  "a\\b",
  "-a",
  "_a",
  ".a",
  "ä",
  "a b",
  "a\0",
  "a%2fb",
];

test.each([...INVALID, "a".repeat(129), undefined, null, 7, {}])(
  "refuses the name %j wherever one is passed",
  async (given) => {
    const name = given as string;
    const calls = [
      () => store.create(name, { size: 1 }),
      () => store.attach(name),
      () => store.fork(name, "b"),
      () => store.fork("a", [name]),
      () => store.rollback(name, 1),
      () => store.history(name).next(),
      () => store.stat(name),
      () => store.remove(name),
      () => store.verify(name),
      () => store.recover(path("image.raw"), name),
    ];
    for (const call of calls) await refusalOf(call(), "ERR_ARGUMENT");
  },
);

test.each([...INVALID.slice(1), "a".repeat(129)])("refuses to list from %j", async (name) => {
  await refusalOf(store.list({ after: name }).next(), "ERR_ARGUMENT");
  await refusalOf(store.list({ prefix: name }).next(), "ERR_ARGUMENT");
});

test("refuses to expire the generations of an invalid name", async () => {
  await refusalOf(store.expire({ name: "../a", keepLast: 1 }), "ERR_ARGUMENT");
});

test("labels and owners have up to 256 characters", async () => {
  const most = "l".repeat(256);
  await whileAttached(store, "a", async (disk) => {
    expect((await disk.save({ label: most })).label).toBe(most);
    await refusalOf(disk.save({ label: `${most}l` }), "ERR_ARGUMENT");
  });
  await (await DiskStore.open(path("store"), { owner: most })).close();
});

test("a lease lasts from a second to a day", async () => {
  const place = path("store");
  for (const lease of ["1s", "24h", 1_000, 86_400_000] as const)
    await (await DiskStore.open(place, { lease })).close();
});

test("refuses options that contradict each other", async () => {
  const cases = [
    () => store.create("b", {}),
    () => store.create("b", { size: 1, image: path("image") }),
    () => store.create("b", { size: -1 }),
    () => store.fork("a", ["b", "b"]),
    () => store.rollback("a", 1.5),
    () => store.expire({}),
    () => store.explain("abc"),
    () => store.recover(path("none.raw"), "b"),
    () => store.discard(path("none.raw")),
    () => DiskStore.open("https://example.com/disks"),
    () => DiskStore.open("s3://bucket"),
  ];
  for (const call of cases) await refusalOf(call(), "ERR_ARGUMENT");
  expect(await store.stat("a")).toMatchObject({ attached: undefined });
});
