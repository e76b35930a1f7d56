import { createHash } from "node:crypto";
import { appendFileSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { beforeEach, describe, expect, test } from "vitest";

import {
  makeRecord,
  readPieces,
  readRecord,
  recordLength,
} from "../../src/cache/directory/image-record.js";
import { ENTRY_LENGTH, entryPosition } from "../../src/decode/journal-layout.js";
import type { Manifest, SnapshotInfo } from "../../src/format/manifest.js";
import { digestOf, quickFolder } from "../support/stored-images.js";

const PIECE = 4096;
const SOURCE = "https://example.com/a.vhs";

const path = quickFolder();
const [record, journal] = [path("record"), path("journal")];
const digest = digestOf("snapshot");

/** Every third piece is a hole. Offsets exceed 32 bits. */
const isHole = (index: number) => index % 3 === 1;
const COUNT = 100;
const START = 2 ** 33;

const sizes = { imageSize: START + COUNT * PIECE - 1, dataSize: 67 * PIECE - 1, fileSize: 9000 };
const info: SnapshotInfo = {
  ...{ digest, ...sizes, holeSize: sizes.imageSize - sizes.dataSize },
  ...{ pieceSize: PIECE, dataFrames: 67, holeFrames: 4000 },
};

const manifest = {
  info,
  frames: {
    count: COUNT,
    isHole,
    imageOffset: (index: number) => START + index * PIECE,
    rawLength: (index: number) => (index === COUNT - 1 ? PIECE - 1 : PIECE),
  },
} as unknown as Manifest;

const sumOf = (index: number) => createHash("sha256").update(`piece ${index}`).digest();

/** Writes a journal, in which holes have no entries. */
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

test("reads back a record that it wrote, of the predicted length", async () => {
  expect(readFileSync(record).length).toBe(recordLength(manifest, SOURCE));
  expect(readRecord(record, digest)).toEqual({ info: manifest.info, source: SOURCE });
  const indices = Array.from({ length: COUNT }, (_, index) => index).filter(
    (index) => !isHole(index),
  );
  const pieces = await readPieces(record, info);
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

test("truncates the name of a source", async () => {
  const source = `https://example.com/${"long/".repeat(10_000)}`;
  const bytes = await make(source);
  expect(bytes.length).toBe(recordLength(manifest, source));
  writeFileSync(record, bytes);
  expect(readRecord(record, digest)).toEqual({ info: manifest.info, source: source.slice(0, 512) });
});

test("refuses a journal that is too short", async () => {
  writeJournal(COUNT - 1);
  await expect(make()).rejects.toMatchObject({ code: "ERR_CACHE" });
});

describe("an invalid record", () => {
  test.each([
    ["empty", () => truncateSync(record, 0)],
    ["half a line", () => truncateSync(record, 50)],
    ["not JSON", () => writeFileSync(record, "{kind:\n")],
    ["null", () => writeFileSync(record, "null\n")],
    [
      "of another kind",
      () => writeFileSync(record, readFileSync(record, "latin1").replace(" 1", " 2")),
    ],
    [
      "without a size",
      () =>
        writeFileSync(
          record,
          readFileSync(record, "latin1").replace(/"imageSize":\d+/, '"imageSize":null'),
        ),
    ],
  ])("ignores a header that is %s", (_, harm) => {
    harm();
    expect(readRecord(record, digest)).toBeUndefined();
  });

  test("ignores the record of another image, and a missing one", () => {
    expect(readRecord(record, digestOf("another"))).toBeUndefined();
    expect(readRecord(path("missing"), digest)).toBeUndefined();
  });

  test("throws for a record that cannot be opened", () => {
    // A path below a file fails with ENOTDIR, even for root.
    expect(() => readRecord(`${record}/record`, digest)).toThrow(
      expect.objectContaining({
        code: "ERR_CACHE",
        cause: expect.objectContaining({ code: "ENOTDIR" }),
      }),
    );
  });

  test("rejects a record with damage in any byte", async () => {
    const bytes = readFileSync(record);
    for (let at = 0; at < bytes.length; at += 13) {
      const harmed = Buffer.from(bytes);
      harmed[at] = harmed[at]! ^ 4;
      writeFileSync(record, harmed);
      expect(await readPieces(record, info), `byte ${at}`).toBeUndefined();
    }
  });

  test("rejects a record that is too long or too short", async () => {
    const { length } = readFileSync(record);
    appendFileSync(record, "x");
    expect(await readPieces(record, info)).toBeUndefined();
    for (const end of [length - 1, length - 32, length - 44, 60, 10, 0]) {
      truncateSync(record, end);
      expect(await readPieces(record, info), `${end} bytes`).toBeUndefined();
    }
    expect(await readPieces(path("missing"), info)).toBeUndefined();
  });
});

describe("a record beyond a limit", () => {
  /** Writes a record with another header and other pieces, and the right digest. */
  function forge(line: object, pieces: readonly (readonly [bigint, number])[] = []): void {
    const bytes = pieces.map(([offset, length]) => {
      const piece = Buffer.alloc(44);
      piece.writeBigUInt64LE(offset, 0);
      piece.writeUInt32LE(length, 8);
      return piece;
    });
    const all = Buffer.concat([Buffer.from(`${JSON.stringify(line)}\n`), ...bytes]);
    writeFileSync(record, Buffer.concat([all, createHash("sha256").update(all).digest()]));
  }

  const kind = "hedgerow image 1";

  test.each([
    ...[
      "imageSize",
      "dataSize",
      "holeSize",
      "fileSize",
      "pieceSize",
      "dataFrames",
      "holeFrames",
    ].flatMap((name) =>
      [-1, 0.5, 2 ** 53, 1e300, null, "1", []].map((value) => ({ [name]: value })),
    ),
    ...[{ imageSize: 2 ** 44 + 1 }, { pieceSize: 2 ** 24 + 1 }, { dataFrames: 2 ** 20 + 1 }],
  ])("rejects a header with %o in its info", (wrong) => {
    forge({ kind, info: { ...info, ...wrong }, source: SOURCE });
    expect(readRecord(record, digest)).toBeUndefined();
  });

  test.each([[{ source: "a".repeat(513) }], [{ source: 1 }], [{ source: null }], [{ info: null }]])(
    "rejects a header with %o",
    (wrong) => {
      forge({ kind, info, source: SOURCE, ...wrong });
      expect(readRecord(record, digest)).toBeUndefined();
    },
  );

  test("rejects a header that is too long", () => {
    forge({ kind, info, source: SOURCE, more: "a".repeat(4096) });
    expect(readRecord(record, digest)).toBeUndefined();
  });

  test("accepts a record at its limits", async () => {
    const max = { ...info, imageSize: 2 ** 44, pieceSize: 2 ** 24, dataFrames: 2 ** 20 };
    forge({ kind, info: max, source: "a".repeat(512) }, [[2n ** 44n - 2n ** 24n, 2 ** 24]]);
    expect(readRecord(record, digest)?.info).toEqual(max);
    expect(await readPieces(record, max)).toHaveLength(1);
  });

  test.each([
    ["beyond the largest safe offset", [[2n ** 63n, 1]]],
    ["that begin beyond the image", [[BigInt(info.imageSize), 1]]],
    ["that end beyond the image", [[BigInt(info.imageSize - 1), 2]]],
    ["longer than the piece size", [[0n, PIECE + 1]]],
    ["of the largest length", [[0n, 2 ** 32 - 1]]],
    [
      "that overlap",
      [
        [0n, PIECE],
        [1n, PIECE],
      ],
    ],
    [
      "out of order",
      [
        [BigInt(PIECE), PIECE],
        [0n, PIECE],
      ],
    ],
  ] as const)("rejects pieces %s", async (_, pieces) => {
    forge({ kind, info, source: SOURCE }, pieces);
    expect(readRecord(record, digest)).toBeDefined();
    expect(await readPieces(record, info)).toBeUndefined();
  });

  test.each([0, 1, 4095, 4097, 2 ** 23 + 1])("rejects a piece size of %i", async (pieceSize) => {
    forge({ kind, info: { ...info, pieceSize }, source: SOURCE });
    expect(await readPieces(record, { ...info, pieceSize })).toBeUndefined();
  });

  test.each([2 ** 26, 2 ** 32, 2 ** 40])(
    "rejects a record of %i bytes without reading it",
    async (size) => {
      truncateSync(record, size);
      expect(readRecord(record, digest)).toBeDefined();
      expect(await readPieces(record, info)).toBeUndefined();
    },
  );
});
