/** Stores in services that differ from AWS. */
import { writeFileSync } from "node:fs";
import type { DiskStore, StoreOptions } from "@hedgerow/snapshot";
import { expect, onTestFinished, test } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise } from "../../../../tests/support/snapshots/image.js";
import { type InjectFault, startProxy } from "../../../../tests/support/snapshots/proxy.js";
import { MIB } from "../support/cache.js";
import { refused, S3_QUIRKS, type S3Quirk } from "../support/quirks.js";
import { refusalOf } from "../support/refusal.js";
import { BLOCK, expectUsable, namesIn, openStore } from "../support/stores.js";
import { s3 } from "../support/upload-s3.js";

const path = temporaryFolder();
let count = 0;

const newPlace = () => {
  count += 1;
  return `s3://${s3.bucket}/quirks-${count}`;
};

/** Opens a store behind a proxy, until the test is done. */
async function openBehind(
  inject: InjectFault,
  place = newPlace(),
  options: StoreOptions = {},
): Promise<DiskStore> {
  const proxy = await startProxy(s3.endpoint, inject);
  const { region, credentials } = s3;
  const { endpoint } = proxy;
  const access = { s3: { endpoint, region, credentials } };
  const store = await openStore(place, { images: path("images"), ...access, ...options });
  onTestFinished(async () => {
    await store.close();
    await proxy[Symbol.asyncDispose]();
  });
  return store;
}

test.each<S3Quirk>([
  "a conflict for each write, once",
  "damage of each upload, once",
  "no Content-Length",
])("works with a service that has this quirk: %s", async (quirk) => {
  const store = await openBehind(S3_QUIRKS[quirk]());
  await expectUsable(store);
  await store.verify("bob");
});

test.each<S3Quirk>([
  "a list that is cut off, once",
  "an empty response in place of a list, once",
  "an empty continuation token",
  "pages of one object, without continuation tokens",
  "pages of one object, without IsTruncated",
])(
  "lists all disks and deletes no snapshot in use if a service has this quirk: %s",
  async (quirk) => {
    const store = await openBehind(S3_QUIRKS[quirk]());
    await store.create("alice", { size: BLOCK });
    await store.create("bob", { size: 2 * BLOCK });
    expect(await namesIn(store)).toEqual(["alice", "bob"]);
    await store.collect();
    await store.verify("alice");
    await store.verify("bob");
  },
);

test("hosts that store the same image at once share one object if the service refuses all but one", async () => {
  writeFileSync(path("image"), noise("same", MIB));
  const inject = S3_QUIRKS["one writer at a time"]();
  const names = ["anna", "bob", "carol", "dave"];
  const place = newPlace();
  const stores = await Promise.all(names.map((owner) => openBehind(inject, place, { owner })));
  const created = await Promise.all(
    stores.map((store, at) => store.create(names[at] as string, { image: path("image") })),
  );
  expect(new Set(created.map(({ digest }) => digest)).size).toBe(1);
  const folder = place.slice(`s3://${s3.bucket}/`.length);
  const isSnapshot = (key: string) => key.startsWith(`${folder}/snapshots/`);
  expect(s3.objects().filter(isSnapshot)).toHaveLength(1);
});

test.each([
  ["a conflict has ended the first", 1],
  ["the first collides each time", 0],
])("a store starts another upload if %s", async (_, retries) => {
  writeFileSync(path("parts"), noise("parts", 11 * MIB));
  const conflict = refused(409, "ConditionalRequestConflict");
  const answers = retries === 0 ? [conflict] : [conflict, refused(404, "NoSuchUpload")];
  const place = newPlace();
  const inject: InjectFault = ({ method, url = "" }) =>
    method === "POST" && url.includes("uploadId=") ? answers.shift() : undefined;
  const store = await openBehind(inject, place, { partSize: 5 * MIB, retries });
  await store.create("alice", { image: path("parts") });
  await store.verify("alice");
  expect(answers).toEqual([]);
  expect(s3.multipartUploads()).toEqual([]);
});

/** Returns a list whose next page is the same one. */
function endless(page: string): string {
  const markers =
    "<NextKeyMarker>a</NextKeyMarker><NextContinuationToken>a</NextContinuationToken>";
  return page
    .replace(/<Next\w+>.*?<\/Next\w+>/g, "")
    .replace("<IsTruncated>false", "<IsTruncated>true")
    .replace(/<\/List\w+Result>/, (end) => `${markers}${end}`);
}

/** Refuses all writes of pointers of disks. */
const refusing =
  (status: number, code: string): InjectFault =>
  ({ method, url = "" }) =>
    method === "PUT" && url.includes("/disks/") ? refused(status, code) : undefined;

test.each([
  [409, "OperationAborted"],
  [412, "PreconditionFailed"],
])(
  "does not report that a disk exists if there is none and the service answers %i",
  async (status, code) => {
    const store = await openBehind(refusing(status, code), newPlace(), { retries: 1 });
    const error = await refusalOf(store.create("alice", { size: BLOCK }), "ERR_STORE");
    expect(error).toMatchObject({ status });
  },
);

test.each(["list-type", "uploads"])(
  "ends a list that the service does not continue: %s",
  async (kind) => {
    const inject: InjectFault = ({ url = "" }) =>
      url.includes(kind) ? { change: (body) => Buffer.from(endless(body.toString())) } : undefined;
    const store = await openBehind(inject);
    await store.create("alice", { size: BLOCK });
    expect((await refusalOf(store.collect(), "ERR_STORE")).message).toContain(
      "how a list continues",
    );
  },
);
