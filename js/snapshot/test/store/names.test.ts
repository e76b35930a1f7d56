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

test("labels and owners have at most 256 characters, and no control characters", async () => {
  const most = "l".repeat(256);
  await whileAttached(store, "a", async (disk) => {
    expect((await disk.save({ label: most })).label).toBe(most);
    await refusalOf(disk.save({ label: `${most}l` }), "ERR_ARGUMENT");
    await refusalOf(disk.save({ label: "\u001b[2J" }), "ERR_ARGUMENT");
  });
  const place = path("store");
  await (await DiskStore.open(place, { owner: most })).close();
  await refusalOf(DiskStore.open(place, { owner: `${most}l` }), "ERR_ARGUMENT");
  await refusalOf(DiskStore.open(place, { owner: "a\nb" }), "ERR_ARGUMENT");
  await refusalOf(store.create("b", { size: 1, label: `${most}l` }), "ERR_ARGUMENT");
});

test("a lease lasts from a second to a day", async () => {
  const place = path("store");
  for (const lease of ["1s", "24h", 1_000, 86_400_000] as const)
    await (await DiskStore.open(place, { lease })).close();
  for (const lease of ["0.9s", "25h", 999, 86_400_001, -1, Number.NaN, "1 s", "s", "1w", true])
    await refusalOf(DiskStore.open(place, { lease: lease as number }), "ERR_ARGUMENT");
});

test("refuses options that contradict each other or are out of range", async () => {
  const cases = [
    () => store.create("b", {}),
    () => store.create("b", { size: 1, image: path("image") }),
    () => store.create("b", { size: -1 }),
    () => store.create("b", { size: 1.5 }),
    () => store.create("b", { from: "x.vhs", digest: "abc" }),
    () => store.attach("a", { saveEvery: 999 }),
    () => store.attach("a", { steal: 1 as unknown as boolean }),
    () => store.attach("a", { freeze: "sync" as unknown as () => void }),
    () => store.attach("a", { hookTimeout: 0 }),
    () => store.attach("a", { hookTimeout: "25h" }),
    () => store.attach("a", { fill: "some" as "all" }),
    () => store.fork("a", ["b", "b"]),
    () => store.fork("a", "b", { generation: 0 }),
    () => store.rollback("a", 1.5),
    () => store.rollback("a", undefined as unknown as number),
    () => store.expire({}),
    () => store.expire({ keepLast: 0 }),
    () => store.expire({ olderThan: "soon" as "1d" }),
    () => store.collect({ grace: -1 }),
    () => store.explain("abc"),
    () => store.recover(path("none.raw"), "b"),
    () => store.discard(path("none.raw")),
    () => DiskStore.open("https://example.com/disks"),
    () => DiskStore.open("s3://bucket"),
  ];
  for (const call of cases) await refusalOf(call(), "ERR_ARGUMENT");
  expect(await store.stat("a")).toMatchObject({ attached: undefined });
});
