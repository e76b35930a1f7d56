/** Secrets appear in no file of a cache, and in no result, error or event. */
import { chmodSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inspect } from "node:util";
import type { Events } from "@hedgerow/snapshot";
import { beforeAll, expect, test } from "vitest";

import { rejectionOf } from "../../../../tests/support/assert.js";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { filesIn, MIB, makeSample, openCache, type Sample } from "../support/cache.js";
import { textsIn } from "../support/error-texts.js";
import { recordEvents } from "../support/events.js";
import { faultsOf, isPart, originOf } from "../support/remote.js";

/** Unique secrets. */
const [USER, PASSWORD, QUERY, TOKEN] = ["u5er-9f31", "pa55w0rd-1c", "5ign4ture", "t0ken-77aa"];

const SECRETS = [
  ...[USER, PASSWORD, QUERY, TOKEN],
  Buffer.from(`${USER}:${PASSWORD}`).toString("base64"),
];

const EVENTS = ["get", "fill", "evict", "damaged"].map(
  (name) => `hedgerow:cache:${name}` as keyof Events,
);

const path = temporaryFolder();
let [one, other] = [{} as Sample, {} as Sample];

beforeAll(async () => {
  one = await makeSample(path, "one", { data: 2 * MIB });
  other = await makeSample(path, "other", { data: 2 * MIB });
});

function expectNoSecret(text: string): void {
  for (const secret of SECRETS) {
    const at = text.indexOf(secret);
    if (at >= 0)
      throw new Error(`found ${secret} in ${text.slice(Math.max(0, at - 200), at + 100)}`);
  }
}

test("keeps the user, query and headers of a URL out of files, results, errors and events", async () => {
  const events = EVENTS.map((name) => recordEvents(name));
  const directory = path("cache");
  const cache = await openCache(directory, { maxBytes: 3 * MIB });
  const origin = await originOf({ "/a.vhs": one.snapshot, "/b.vhs": other.snapshot });
  const urlOf = (place: string) => {
    const url = origin.url(`${place}?X-Amz-Signature=${QUERY}&token=${QUERY}#${QUERY}`);
    [url.username, url.password] = [USER, PASSWORD];
    return url;
  };
  const options = { headers: { "x-token": TOKEN, cookie: TOKEN }, retries: 0 };
  const seen: string[] = [];
  const look = async () => {
    for (const name of filesIn(directory)) {
      if (!/^(images|filling)$/.test(name)) {
        seen.push(`${name}\n${readFileSync(join(directory, name), "latin1")}`);
      }
    }
    seen.push(inspect([await cache.entries(), await cache.stats()], { depth: 10 }));
  };
  for (const place of ["/a.vhs", "/a.vhs", "/b.vhs"]) {
    const image = await cache.get(urlOf(place), options);
    seen.push(inspect(image, { depth: 10, showHidden: true }));
    await look();
    await image.release();
  }
  await cache.clear();
  const faults = [
    faultsOf(isPart, { status: 403 }),
    faultsOf(() => true, { status: 403 }),
    faultsOf(isPart, { flipBit: 9 }),
    faultsOf(() => true, { location: `http://127.0.0.1:1/${QUERY}?${QUERY}` }),
    faultsOf(() => true, { cutAfter: 0 }),
  ];
  for (const fault of faults) {
    origin.faults = fault;
    for (const digest of [undefined, one.digest]) {
      seen.push(textsIn(await rejectionOf(cache.get(urlOf("/a.vhs"), { ...options, digest }))));
    }
    await look();
  }
  origin.faults = undefined;
  // Publish an event of a damaged image, too.
  for (let time = 0; time < 2; time += 1) {
    const image = await cache.get(urlOf("/a.vhs"), options);
    await image.release();
    chmodSync(image.path, 0o666);
  }
  await look();
  const all = [...seen, inspect(events, { depth: 10 })].join("\n");
  expectNoSecret(all);
  expect(all).toContain(origin.url("/a.vhs").href);
  expect(events.map(({ length }) => length > 0)).toEqual([true, true, true, true]);
  // The secrets did reach the server.
  expect(origin.requests.at(-1)?.headers).toMatchObject({ "x-token": TOKEN, cookie: TOKEN });
});
