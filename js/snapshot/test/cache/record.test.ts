import { createHash } from "node:crypto";
import {
  appendFileSync,
  closeSync,
  ftruncateSync,
  openSync,
  readFileSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { createSnapshot } from "@hedgerow/snapshot";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";

import { makeRecord, readContent, readRecord, recordLength } from "../../src/cache/record.js";
import { ENTRY_LENGTH, entryPosition } from "../../src/decode/frame-sink.js";
import { type Manifest, readManifest, type SnapshotInfo } from "../../src/format/manifest.js";
import { SnapshotFile } from "../../src/local/open-file.js";
import { digestOf, quickFolder } from "../support/stored-images.js";

const PIECE = 4096;
const SOURCE = "https://example.com/a.vhs";

const path = quickFolder();
const [record, journal] = [path("record"), path("journal")];

/** Every third piece is a hole. Offsets exceed 32 bits. */
const isHole = (index: number) => index % 3 === 1;
const COUNT = 100;
const START = 2 ** 33;

let manifest: Manifest;
let info: SnapshotInfo;
let digest: string;

beforeAll(async () => {
  const [image, snapshot] = [path("image"), path("snapshot.vhs")];
  const fd = openSync(image, "w");
  for (let index = 0; index < COUNT; index += 1) {
    if (!isHole(index)) writeSync(fd, `piece ${index}`, START + index * PIECE);
  }
  ftruncateSync(fd, START + COUNT * PIECE - 1);
  closeSync(fd);
  await createSnapshot(image, snapshot, { pieceSize: PIECE, workers: 1 });
  const file = await SnapshotFile.open(snapshot);
  manifest = await readManifest(file).finally(() => file.close());
  ({ info } = manifest);
  ({ digest } = info);
});

const sumOf = (index: number) => createHash("sha256").update(`piece ${index}`).digest();

/** Writes a journal, in which holes have no entries. */
function writeJournal(count = manifest.frames.count): void {
  const bytes = Buffer.alloc(entryPosition(count));
  for (let index = 0; index < count; index += 1) {
    if (!manifest.frames.isHole(index))
      sumOf(index).copy(bytes, entryPosition(index), 0, ENTRY_LENGTH);
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
  const content = await readContent(record, info);
  expect(content?.manifest.info).toEqual(info);
  expect(content?.manifest.frames.shared).toEqual(manifest.frames.shared);
  for (let frame = 0; frame < manifest.frames.count; frame += 1) {
    if (manifest.frames.isHole(frame)) continue;
    expect(Buffer.from(content?.digest(frame) ?? []), `frame ${frame}`).toEqual(sumOf(frame));
  }
});

test("truncates the name of a source", async () => {
  const source = `https://example.com/${"long/".repeat(10_000)}`;
  const bytes = await make(source);
  expect(bytes.length).toBe(recordLength(manifest, source));
  writeFileSync(record, bytes);
  expect(readRecord(record, digest)).toEqual({ info: manifest.info, source: source.slice(0, 512) });
});

test("refuses a journal that is too short", async () => {
  writeJournal(manifest.frames.count - 1);
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
      () => writeFileSync(record, readFileSync(record, "latin1").replace(" 2", " 3")),
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
      expect(await readContent(record, info), `byte ${at}`).toBeUndefined();
    }
  });

  test("rejects a record that is too long or too short", async () => {
    const { length } = readFileSync(record);
    appendFileSync(record, "x");
    expect(await readContent(record, info)).toBeUndefined();
    for (const end of [length - 1, length - 32, length - 44, 60, 10, 0]) {
      truncateSync(record, end);
      expect(await readContent(record, info), `${end} bytes`).toBeUndefined();
    }
    expect(await readContent(path("missing"), info)).toBeUndefined();
  });
});

describe("a record beyond a limit", () => {
  /** Writes a record with another header, digests and tail, and the right checksum. */
  function forge(line: object, digests = info.dataFrames, tail: Uint8Array = manifest.tail): void {
    const head = Buffer.from(`${JSON.stringify(line)}\n`);
    const all = Buffer.concat([head, Buffer.alloc(digests * ENTRY_LENGTH), tail]);
    writeFileSync(record, Buffer.concat([all, createHash("sha256").update(all).digest()]));
  }

  const kind = "hedgerow image 2";

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
    forge({ kind, info, source: SOURCE, more: "a".repeat(2 ** 15) });
    expect(readRecord(record, digest)).toBeUndefined();
  });

  test("accepts a header at its limits", () => {
    const max = { ...info, imageSize: 2 ** 44, pieceSize: 2 ** 24, dataFrames: 2 ** 20 };
    forge({ kind, info: max, source: "a".repeat(512) });
    expect(readRecord(record, digest)?.info).toEqual(max);
  });

  test("rejects a tail that is not that of the snapshot", async () => {
    forge({ kind, info, source: SOURCE });
    expect((await readContent(record, info))?.manifest.info).toEqual(info);
    const { tail } = manifest;
    const damaged = tail.with(tail.length >> 1, 0xa5);
    for (const wrong of [damaged, tail.subarray(1), tail.subarray(0, -1), new Uint8Array(0)]) {
      forge({ kind, info, source: SOURCE }, info.dataFrames, wrong);
      expect(readRecord(record, digest)).toBeDefined();
      expect(await readContent(record, info)).toBeUndefined();
    }
    const other = { ...info, digest: digestOf("another") };
    forge({ kind, info: other, source: SOURCE });
    expect(await readContent(record, other)).toBeUndefined();
  });

  test.each([-1, 1])("rejects %i digests more than frames", async (more) => {
    forge({ kind, info, source: SOURCE }, info.dataFrames + more);
    expect(await readContent(record, info)).toBeUndefined();
    const wrong = { ...info, dataFrames: info.dataFrames + more };
    forge({ kind, info: wrong, source: SOURCE }, wrong.dataFrames);
    expect(await readContent(record, wrong)).toBeUndefined();
  });

  test.each([2 ** 29, 2 ** 32, 2 ** 40])(
    "rejects a record of %i bytes without reading it",
    async (size) => {
      truncateSync(record, size);
      expect(readRecord(record, digest)).toBeDefined();
      expect(await readContent(record, info)).toBeUndefined();
    },
  );
});
