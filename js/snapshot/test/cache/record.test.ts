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

/** An image of which each third piece is a hole, beyond what has 32 bits. */
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
      expect(await readPieces(record, info), `byte ${at}`).toBeUndefined();
    }
  });

  test("is what is longer or shorter", async () => {
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

describe("a record beyond a limit is none, or damaged", () => {
  /** A record of other words, and of other pieces, with the digest of all that. */
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
  ])("whose line says %o", (wrong) => {
    forge({ kind, info: { ...info, ...wrong }, source: SOURCE });
    expect(readRecord(record, digest)).toBeUndefined();
  });

  test.each([[{ source: "a".repeat(513) }], [{ source: 1 }], [{ source: null }], [{ info: null }]])(
    "whose line has %o",
    (wrong) => {
      forge({ kind, info, source: SOURCE, ...wrong });
      expect(readRecord(record, digest)).toBeUndefined();
    },
  );

  test("whose line is longer than any", () => {
    forge({ kind, info, source: SOURCE, more: "a".repeat(4096) });
    expect(readRecord(record, digest)).toBeUndefined();
  });

  test("at its limits is one", async () => {
    const most = { ...info, imageSize: 2 ** 44, pieceSize: 2 ** 24, dataFrames: 2 ** 20 };
    forge({ kind, info: most, source: "a".repeat(512) }, [[2n ** 44n - 2n ** 24n, 2 ** 24]]);
    expect(readRecord(record, digest)?.info).toEqual(most);
    expect(await readPieces(record, most)).toHaveLength(1);
  });

  test.each([
    ["of which one lies beyond all numbers", [[2n ** 63n, 1]]],
    ["of which one lies beyond the image", [[BigInt(info.imageSize), 1]]],
    ["of which one ends beyond the image", [[BigInt(info.imageSize - 1), 2]]],
    ["of which one is longer than any", [[0n, PIECE + 1]]],
    ["of which one is longer than what has a length", [[0n, 2 ** 32 - 1]]],
    [
      "of which one lies in another",
      [
        [0n, PIECE],
        [1n, PIECE],
      ],
    ],
    [
      "that are not in order",
      [
        [BigInt(PIECE), PIECE],
        [0n, PIECE],
      ],
    ],
  ] as const)("with pieces %s", async (_, pieces) => {
    forge({ kind, info, source: SOURCE }, pieces);
    expect(readRecord(record, digest)).toBeDefined();
    expect(await readPieces(record, info)).toBeUndefined();
  });

  test.each([0, 1, 4095, 4097, 2 ** 23 + 1])(
    "with pieces of %i bytes at most",
    async (pieceSize) => {
      forge({ kind, info: { ...info, pieceSize }, source: SOURCE });
      expect(await readPieces(record, { ...info, pieceSize })).toBeUndefined();
    },
  );

  test.each([2 ** 26, 2 ** 32, 2 ** 40])("of %i bytes, of which none is read", async (size) => {
    truncateSync(record, size);
    expect(readRecord(record, digest)).toBeDefined();
    expect(await readPieces(record, info)).toBeUndefined();
  });
});
