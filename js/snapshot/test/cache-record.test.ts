import { createHash } from "node:crypto";
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { beforeEach, describe, expect, test } from "vitest";

import { makeRecord, readPieces, readRecord, recordLength } from "../src/cache/image-record.js";
import type { Manifest } from "../src/format/manifest.js";
import { ENTRY_LENGTH, entryPosition } from "../src/local/journal-layout.js";
import { digestOf, quickFolder } from "./support/shelved.js";

const PIECE = 4096;
const SOURCE = "https://example.com/a.vhs";

const path = quickFolder();
const [record, journal] = [path("record"), path("journal")];
const digest = digestOf("snapshot");

/** An image of which each third piece is a hole, beyond what has 32 bits. */
const isHole = (index: number) => index % 3 === 1;
const COUNT = 100;
const START = 2 ** 33;

const manifest = {
  info: { digest, imageSize: START + COUNT * PIECE - 1, dataFrames: 67, pieceSize: PIECE },
  frames: {
    count: COUNT,
    isHole,
    imageOffset: (index: number) => START + index * PIECE,
    rawLength: (index: number) => (index === COUNT - 1 ? PIECE - 1 : PIECE),
  },
} as unknown as Manifest;

const sumOf = (index: number) => createHash("sha256").update(`piece ${index}`).digest();

/** The journal of what was restored: of the holes it has nothing. */
function writeJournal(count = COUNT): void {
  const bytes = Buffer.alloc(entryPosition(count));
  for (let index = 0; index < count; index += 1) {
    if (!isHole(index)) sumOf(index).copy(bytes, entryPosition(index), 0, ENTRY_LENGTH);
  }
  writeFileSync(journal, bytes);
}

async function make(source = SOURCE): Promise<Buffer> {
  const file = await open(journal, "r");
  try {
    return await makeRecord(manifest, source, file);
  } finally {
    await file.close();
  }
}

beforeEach(async () => {
  writeJournal();
  writeFileSync(record, await make());
});

test("what is written is read, and as long as was said", async () => {
  expect(readFileSync(record).length).toBe(recordLength(manifest, SOURCE));
  expect(readRecord(record, digest)).toEqual({ info: manifest.info, source: SOURCE });
  const indices = Array.from({ length: COUNT }, (_, index) => index).filter(
    (index) => !isHole(index),
  );
  const pieces = await readPieces(record);
  expect(
    pieces?.map(({ digest: sum, ...place }) => ({ ...place, digest: Buffer.from(sum) })),
  ).toEqual(
    indices.map((index) => ({
      offset: manifest.frames.imageOffset(index),
      length: manifest.frames.rawLength(index),
      digest: sumOf(index),
    })),
  );
});

test("the name of a source that has no end is cut", async () => {
  const source = `https://example.com/${"long/".repeat(10_000)}`;
  const bytes = await make(source);
  expect(bytes.length).toBe(recordLength(manifest, source));
  writeFileSync(record, bytes);
  expect(readRecord(record, digest)).toEqual({ info: manifest.info, source: source.slice(0, 512) });
});

test("a journal that ends too soon is refused", async () => {
  writeJournal(COUNT - 1);
  await expect(make()).rejects.toMatchObject({ code: "ERR_CACHE" });
});

describe("what is no record", () => {
  test.each([
    ["nothing", () => truncateSync(record, 0)],
    ["half a line", () => truncateSync(record, 50)],
    ["no JSON", () => writeFileSync(record, "{kind:\n")],
    ["null", () => writeFileSync(record, "null\n")],
    [
      "another kind",
      () => writeFileSync(record, readFileSync(record, "latin1").replace(" 1", " 2")),
    ],
    [
      "no length",
      () =>
        writeFileSync(
          record,
          readFileSync(record, "latin1").replace(/"imageSize":\d+/, '"imageSize":null'),
        ),
    ],
  ])("%s is told of as none", (_, harm) => {
    harm();
    expect(readRecord(record, digest)).toBeUndefined();
  });

  test("is that of another, and what is not there", () => {
    expect(readRecord(record, digestOf("another"))).toBeUndefined();
    expect(readRecord(path("missing"), digest)).toBeUndefined();
  });

  test("is not what cannot be opened", () => {
    // Below a file there is nothing that even root can open, and it is another error than a missing file.
    expect(() => readRecord(`${record}/record`, digest)).toThrow(
      expect.objectContaining({
        code: "ERR_CACHE",
        cause: expect.objectContaining({ code: "ENOTDIR" }),
      }),
    );
  });

  test("is what has another byte anywhere", async () => {
    const bytes = readFileSync(record);
    for (let at = 0; at < bytes.length; at += 13) {
      const harmed = Buffer.from(bytes);
      harmed[at] = harmed[at]! ^ 4;
      writeFileSync(record, harmed);
      expect(await readPieces(record), `byte ${at}`).toBeUndefined();
    }
  });

  test("is what is longer or shorter", async () => {
    const { length } = readFileSync(record);
    appendFileSync(record, "x");
    expect(await readPieces(record)).toBeUndefined();
    for (const end of [length - 1, length - 32, length - 44, 60, 10, 0]) {
      truncateSync(record, end);
      expect(await readPieces(record), `${end} bytes`).toBeUndefined();
    }
    expect(await readPieces(path("missing"))).toBeUndefined();
  });
});
