/** Frames are decoded and compared with the image before they are written: a sample, or all of them. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createSnapshot, verifySnapshot } from "@hedgerow/snapshot";
import { beforeAll, describe, expect, test, vi } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { letters, noise } from "../../../../tests/support/snapshots/image.js";
import { FrameCheck } from "../../dist/encode/frame-check.js";
import { compiledDecode } from "../../dist/wasm/compiled-decode.js";
import { initSync, PieceCompressor } from "../../wasm/encode.js";
import { run } from "../support/job.js";
import { refusalOf } from "../support/refusal.js";

const MIB = 2 ** 20;

const path = temporaryFolder();

/** zstd's codes of numbers of literals, from 16 on: an excerpt that both of its encoders have. */
const CODES = Buffer.from([16, 16, 17, 17, 18, 18, 19, 19, 20, 20, 20, 20, 21, 21, 21, 21, 22, 22]);

/** Returns a module whose encoder writes wrong numbers of literals. Other modules stay as they are. */
function faulty(bytes: Uint8Array): Buffer<ArrayBuffer> {
  const copy = Buffer.alloc(bytes.length);
  copy.set(bytes);
  for (let at = copy.indexOf(CODES); at >= 0; at = copy.indexOf(CODES, at)) copy[at + 8] = 21;
  return copy;
}

const { compile } = WebAssembly;
vi.spyOn(WebAssembly, "compile").mockImplementation((bytes) =>
  compile(faulty(bytes as Uint8Array)),
);

/** Incompressible data, whose frames have no sequences; and text, whose frames do not decode. */
const [good, bad] = [noise("frames", MIB), letters("frames", MIB)];

/** The first piece is good, and checked. */
const image = path("image");
const base = path("base.vhs");

beforeAll(async () => {
  writeFileSync(path("zeros"), Buffer.alloc(2 * MIB));
  // In another process, whose encoder is not faulty.
  const job = { call: "createSnapshot", source: path("zeros"), target: base } as const;
  expect((await run(job)).error).toBeNull();
});

describe.each([
  ["a snapshot", {}],
  ["a delta", { base }],
])("%s", (_, options) => {
  test.each([
    ["its first frame", [bad, good], false],
    ["a later frame, with verify,", [good, bad], true],
  ])("leaves nothing if %s does not decode to the image", async (_, pieces, verify) => {
    writeFileSync(image, Buffer.concat(pieces));
    const target = path("target.vhs");
    writeFileSync(target, "an older snapshot");
    const before = readdirSync(path());
    const creating = createSnapshot(image, target, { ...options, verify, workers: 1 });
    const { message } = await refusalOf(creating, "ERR_WORKER");
    expect(message).toContain(
      `${image}: the memory or the processor of this machine may be faulty`,
    );
    expect(readFileSync(target, "utf8")).toBe("an older snapshot");
    expect(readdirSync(path())).toEqual(before);
  });

  test("checks only a sample by default", async () => {
    writeFileSync(image, Buffer.concat([good, bad]));
    const target = path("unchecked.vhs");
    await createSnapshot(image, target, { ...options, workers: 1 });
    await refusalOf(verifySnapshot(target), "ERR_SNAPSHOT_FORMAT");
  });
});

describe("a frame", () => {
  let check: (run: Uint8Array, frame: Uint8Array, parts: Uint8Array[]) => void;
  let frame: Buffer;
  let record: Buffer;

  beforeAll(async () => {
    const { memory } = initSync({
      module: new WebAssembly.Module(
        readFileSync(new URL("../../wasm/encode_bg.wasm", import.meta.url)),
      ),
    });
    const compressor = new PieceCompressor(3, MIB);
    new Uint8Array(memory.buffer).set(bad, compressor.piece());
    expect(compressor.compress(MIB)).toBe(1);
    frame = Buffer.from(new Uint8Array(memory.buffer, compressor.bytes(), compressor.length()));
    record = Buffer.from(new Uint8Array(memory.buffer, compressor.runs(), 48));
    const checks = new FrameCheck({ module: await compiledDecode(), every: 1 }, "an image", MIB);
    check = (...args) => checks.check(...args);
  });

  /** Returns bytes with one bit flipped. */
  const flipped = (bytes: Uint8Array, at: number) => {
    const copy = Buffer.from(bytes);
    copy[at]! ^= 1;
    return copy;
  };

  test("passes if it decodes to the bytes of the image, in one part or several", () => {
    check(record, frame, [bad]);
    check(record, frame, [bad.subarray(0, 4096), bad.subarray(4096)]);
  });

  test("fails if a bit of the image changed after it was compressed", () => {
    const at = [0, 4095, 4096, MIB - 1];
    for (const one of at)
      expect(() => check(record, frame, [flipped(bad, one)]), `${one}`).toThrow("other bytes");
  });

  test("fails if a bit of the frame, its digest or its length changed", () => {
    for (const at of [0, 100, frame.length - 1])
      expect(() => check(record, flipped(frame, at), [bad]), `${at}`).toThrow("expected digest");
    expect(() => check(flipped(record, 16), frame, [bad])).toThrow("expected digest");
    expect(() => check(flipped(record, 8), frame, [bad])).toThrow("expected");
  });
});
