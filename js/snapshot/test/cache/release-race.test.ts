/** An image that is released while another cache evicts. */
import { readlinkSync } from "node:fs";
import { expect, onTestFinished, test, vi } from "vitest";

import { openComponents } from "../../src/cache/components.js";
import { libc } from "../../src/local/libc.js";
import { digestOf, manifestOf, quickFolder, use } from "../support/stored-images.js";

const SIZE = 2 ** 19;

const path = quickFolder();

test("evicts an image that is released just after eviction has skipped it", async () => {
  const options = { maxBytes: 2 * SIZE };
  const [one, other] = [
    await openComponents(path(), options),
    await openComponents(path(), options),
  ];
  const digest = digestOf("in use");
  await use(one, digest, SIZE);
  const lease = await one.store.take(digest);
  if (lease === undefined) throw new Error("expected an image");

  const system = (await libc())!;
  const flock = system.flock;
  let released: Promise<void> | undefined;
  vi.spyOn(system, "flock").mockImplementation((fd, operation) => {
    const result = flock(fd, operation);
    const isInUse = result < 0 && readlinkSync(`/proc/self/fd/${fd}`).includes(digest);
    if (isInUse) released ??= one.store.release(lease);
    return result;
  });
  onTestFinished(() => {
    vi.restoreAllMocks();
  });
  const reserved = await other.writer.reserve(manifestOf(digestOf("new"), SIZE), 4096);
  expect(released).toBeDefined();
  await released;
  expect(one.store.has(digest)).toBe(false);

  await reserved.file.close();
  await one.close();
  await other.close();
});
