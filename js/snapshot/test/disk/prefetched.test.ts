/** The beginning of a snapshot, which is requested when it is opened as a disk. */
import { type OpenOptions, openSnapshot } from "@hedgerow/snapshot";
import { expect, test } from "vitest";

import type { Fault } from "../../../../tests/origin/fault.mjs";
import { expectSame } from "../../../../tests/support/snapshots/image.js";
import { image, other, path, serve } from "../support/faulty.js";
import { expectNoConnections, faultsOf, isHead, isPart, SOON } from "../support/remote.js";

/** How many bytes of the image are read; their frames are requested early. */
const LENGTH = 2 ** 18;

let count = 0;

function optionsOf(own: Partial<OpenOptions> = {}): OpenOptions {
  count += 1;
  return { workers: 1, fill: "none", trace: false, image: path(`disk-${count}`), ...own };
}

test("first reads need no request of their own", async () => {
  const origin = await serve();
  const disk = await openSnapshot(origin.url("/a.vhs"), optionsOf());
  expectSame(await disk.read(0, LENGTH), image.subarray(0, LENGTH));
  expect(origin.requests.filter(isPart)).toEqual([]);
  await disk.close();
  await expectNoConnections(origin);
});

const slow = { firstByte: 100 };
const faults: Readonly<Record<string, Fault>> = {
  "are damaged": { ...slow, flipBit: 2 ** 16 },
  "are cut off": { ...slow, cutAfter: 2 ** 16 },
  "do not come": { noAnswer: true },
  "are of another version": { ...slow, content: other, etag: '"other"' },
  "are refused": { ...slow, status: 503 },
};

test.each(Object.entries(faults))(
  "first reads request their frames if the early bytes %s",
  async (_, fault) => {
    const origin = await serve({ faults: faultsOf(isHead, fault, 1) });
    const disk = await openSnapshot(origin.url("/a.vhs"), optionsOf({ timeouts: SOON }));
    expectSame(await disk.read(0, LENGTH), image.subarray(0, LENGTH));
    expect(
      origin.requests.filter((request) => isHead(request) || isPart(request)).length,
    ).toBeGreaterThan(1);
    await disk.close();
    await expectNoConnections(origin);
  },
);

test("the fill does not request the early bytes again", async () => {
  const origin = await serve();
  const disk = await openSnapshot(origin.url("/a.vhs"), optionsOf({ fill: "all" }));
  await disk.filled;
  const first = origin.requests.filter(isPart).map(({ range }) => range?.start ?? 0);
  expect(Math.min(...first)).toBeGreaterThan(LENGTH);
  expectSame(await disk.read(0, image.length), image);
  await disk.close();
});
