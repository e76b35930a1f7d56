import { open, rm } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";

import { INDEX_LENGTH, SourceIndex, sha256 } from "../../src/cache/source-index.js";
import { quickFolder } from "../support/stored-images.js";

const path = quickFolder();

/** A fake ETag digest and snapshot digest. */
const seenOf = (name: string) => ({ version: sha256(`version ${name}`), digest: sha256(name) });

async function openSources() {
  const file = await open(path("sources"), "w+");
  onTestFinished(async () => {
    await file.close();
    await rm(path("sources"));
  });
  await file.write(Buffer.alloc(INDEX_LENGTH), 0, INDEX_LENGTH, 0);
  return { file, sources: new SourceIndex(file) };
}

/** Two sources with the same slot. */
function collidingSources(): [string, string] {
  const slots = new Map<number, string>();
  for (let number = 0; ; number += 1) {
    const source = sha256(`source ${number}`);
    const slot = Number.parseInt(source.slice(0, 8), 16) % 1024;
    const other = slots.get(slot);
    if (other !== undefined) return [other, source];
    slots.set(slot, source);
  }
}

test("returns the last snapshot seen at a source, and nothing for other sources", async () => {
  const { sources } = await openSources();
  const names = Array.from({ length: 50 }, (_, index) => sha256(`source ${index}`));
  for (const name of names) expect(await sources.get(name)).toBeUndefined();
  for (const name of names) {
    await sources.set(name, seenOf(name));
    expect(await sources.get(name)).toEqual(seenOf(name));
  }
  await sources.set(names[0]!, seenOf("new"));
  expect(await sources.get(names[0]!)).toEqual(seenOf("new"));
});

test("overwrites a source with a later one in the same slot", async () => {
  const { sources } = await openSources();
  const [one, other] = collidingSources();
  await sources.set(one, seenOf("one"));
  await sources.set(other, seenOf("other"));
  expect(await sources.get(one)).toBeUndefined();
  expect(await sources.get(other)).toEqual(seenOf("other"));
});

test("does not grow with the number of sources", async () => {
  const { file, sources } = await openSources();
  for (let number = 0; number < 3000; number += 1) {
    const source = sha256(`source ${number}`);
    await sources.set(source, seenOf(source));
  }
  expect((await file.stat()).size).toBe(INDEX_LENGTH);
});

test("ignores a slot with damage in any byte", async () => {
  const { file, sources } = await openSources();
  const source = sha256("source");
  await sources.set(source, seenOf("source"));
  const bytes = Buffer.alloc(INDEX_LENGTH);
  await file.read(bytes, 0, INDEX_LENGTH, 0);
  const start = bytes.indexOf(Buffer.from(source, "hex"));
  for (let at = start; at < start + 128; at += 1) {
    const harmed = Buffer.from([bytes[at]! ^ 0x10]);
    await file.write(harmed, 0, 1, at);
    expect(await sources.get(source), `byte ${at - start}`).toBeUndefined();
    await file.write(bytes, at, 1, at);
  }
  expect(await sources.get(source)).toEqual(seenOf("source"));
  await file.truncate(start + 100);
  expect(await sources.get(source)).toBeUndefined();
});
