import { open, rm } from "node:fs/promises";
import { expect, onTestFinished, test } from "vitest";

import { SOURCES_LENGTH, Sources, sha256 } from "../../src/cache/directory/sources.js";
import { quickFolder } from "../support/stored-images.js";

const path = quickFolder();

/** The digests of an ETag and a snapshot. */
const seenOf = (name: string) => ({ version: sha256(`version ${name}`), digest: sha256(name) });

async function openSources() {
  const file = await open(path("sources"), "w+");
  onTestFinished(async () => {
    await file.close();
    await rm(path("sources"));
  });
  await file.write(Buffer.alloc(SOURCES_LENGTH), 0, SOURCES_LENGTH, 0);
  return { file, sources: new Sources(file) };
}

/** The digests of two sources that have the same place. */
function rivals(): [string, string] {
  const places = new Map<number, string>();
  for (let number = 0; ; number += 1) {
    const source = sha256(`source ${number}`);
    const place = Number.parseInt(source.slice(0, 8), 16) % 1024;
    const other = places.get(place);
    if (other !== undefined) return [other, source];
    places.set(place, source);
  }
}

test("what was seen is known, and nothing else is", async () => {
  const { sources } = await openSources();
  const names = Array.from({ length: 50 }, (_, index) => sha256(`source ${index}`));
  for (const name of names) expect(await sources.seen(name)).toBeUndefined();
  for (const name of names) {
    await sources.see(name, seenOf(name));
    expect(await sources.seen(name)).toEqual(seenOf(name));
  }
  await sources.see(names[0]!, seenOf("new"));
  expect(await sources.seen(names[0]!)).toEqual(seenOf("new"));
});

test("of two that have the same place, the later one has it", async () => {
  const { sources } = await openSources();
  const [one, other] = rivals();
  await sources.see(one, seenOf("one"));
  await sources.see(other, seenOf("other"));
  expect(await sources.seen(one)).toBeUndefined();
  expect(await sources.seen(other)).toEqual(seenOf("other"));
});

test("however many there are, the file is no longer for it", async () => {
  const { file, sources } = await openSources();
  for (let number = 0; number < 3000; number += 1) {
    const source = sha256(`source ${number}`);
    await sources.see(source, seenOf(source));
  }
  expect((await file.stat()).size).toBe(SOURCES_LENGTH);
});

test("what is damaged in any byte is not known", async () => {
  const { file, sources } = await openSources();
  const source = sha256("source");
  await sources.see(source, seenOf("source"));
  const bytes = Buffer.alloc(SOURCES_LENGTH);
  await file.read(bytes, 0, SOURCES_LENGTH, 0);
  const start = bytes.indexOf(Buffer.from(source, "hex"));
  for (let at = start; at < start + 128; at += 1) {
    const harmed = Buffer.from([bytes[at]! ^ 0x10]);
    await file.write(harmed, 0, 1, at);
    expect(await sources.seen(source), `byte ${at - start}`).toBeUndefined();
    await file.write(bytes, at, 1, at);
  }
  expect(await sources.seen(source)).toEqual(seenOf("source"));
  await file.truncate(start + 100);
  expect(await sources.seen(source)).toBeUndefined();
});
