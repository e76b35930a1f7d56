/** Deltas: a chain of them, and forged ones. */
import { readFileSync, writeFileSync } from "node:fs";
import { createSnapshot } from "@hedgerow/snapshot";

import { letters, noise } from "../../../../tests/support/snapshots/image.js";
import { FrameDecoder, initSync } from "../../wasm/decode.js";

const BLOCK = 2 ** 12;

/** The zstd compression level of the frames. */
const COMPRESSION_LEVEL = 3;

/** A delta of a delta of a snapshot: the bytes of the three files by name, and their images. */
export interface Chain {
  readonly files: Readonly<Record<"a.vhs" | "first.vhs" | "base.vhs", Buffer>>;
  /** The image of `a.vhs`. */
  readonly image: Buffer;
}

/** The size of the pieces of a chain, in bytes. */
export const CHAIN_PIECE = 2 ** 16;

/**
 * Makes a chain, and writes its files. `a.vhs` holds more frames than are requested with its tail. Of the others it
 * uses some frames and not the frames between them, and of one frame all but a block.
 */
export async function makeChain(path: (name: string) => string): Promise<Chain> {
  const [kib, mib] = [2 ** 10, 2 ** 20];
  const baseImage = noise("base", 3.5 * mib + 17);
  const firstImage = Buffer.from(baseImage);
  noise("first", 1.25 * mib).copy(firstImage, mib);
  const image = Buffer.from(firstImage);
  letters("block", BLOCK).copy(image, 0x14000);
  noise("own", 256 * kib).copy(image, 256 * kib);
  noise("more", 512 * kib).copy(image, mib);
  noise("most", 768 * kib).copy(image, 2.25 * mib);
  image.fill(0, 3 * mib, 3.25 * mib);

  const create = async (name: string, bytes: Buffer, base?: string) => {
    writeFileSync(path("image"), bytes);
    const options = { workers: 1, pieceSize: CHAIN_PIECE, base: base && path(base) };
    await createSnapshot(path("image"), path(name), options);
    return readFileSync(path(name));
  };
  const files = {
    "base.vhs": await create("base.vhs", baseImage),
    "first.vhs": await create("first.vhs", firstImage, "base.vhs"),
    "a.vhs": await create("a.vhs", image, "first.vhs"),
  };
  return { files, image };
}

const module = new WebAssembly.Module(
  readFileSync(new URL("../../wasm/decode_bg.wasm", import.meta.url)),
);

/** The longest text that {@link blake3} takes. */
const MAX_HASHED = 2 ** 24;

/** Returns the BLAKE3 digest of bytes, of which there are at most 16 MiB. */
export function blake3(bytes: Uint8Array): Buffer {
  const { memory } = initSync({ module });
  const decoder = FrameDecoder.create(MAX_HASHED, false);
  if (decoder === undefined || bytes.length > MAX_HASHED) throw new Error("too much to hash");
  new Uint8Array(memory.buffer, decoder.out(), bytes.length).set(bytes);
  return Buffer.from(new Uint8Array(memory.buffer, decoder.out_digest(bytes.length), 32).slice());
}

/** A base object in a forged delta. */
export interface ForgedObject {
  readonly identity?: Buffer;
  readonly size?: number;
  readonly reference: string | Buffer;
}

/** A frame in a forged delta, of one part. */
export interface ForgedFrame {
  /** The number of the object: 0 is the delta itself. */
  readonly object: number;
  readonly fileOffset: number;
  readonly rawLength: number;
  /** The bytes of the frame, for its length and its digest. */
  readonly bytes: Buffer;
}

/** The fields of a forged delta. By default they fit the base objects and the frames. */
export interface ForgedFields {
  readonly objects: readonly ForgedObject[];
  readonly frames: readonly ForgedFrame[];
  readonly pieceSize?: number;
  readonly imageSize?: number;
  readonly objectCount?: number;
  readonly frameCount?: number;
  readonly mappingCount?: number;
  readonly depth?: number;
}

/** The bytes after the header. */
const MARK = Buffer.from("28b52ffd08766873", "hex");

/** The length of the header and the mark, which come before the first frame. */
export const DELTA_START = 40;

/** Returns a delta with any fields, whose digest is right. Each frame has one mapping. */
export function forgeDelta(fields: ForgedFields): Buffer {
  const { objects, frames, pieceSize = 2 ** 16, depth = 1 } = fields;
  const { imageSize = frames.reduce((sum, { rawLength }) => sum + rawLength, 0) } = fields;
  const {
    objectCount = objects.length,
    frameCount = frames.length,
    mappingCount = frames.length,
  } = fields;
  const head = [u64("hedgevhs"), u16(2), Buffer.of(1, COMPRESSION_LEVEL), u32(pieceSize)];
  head.push(u64(imageSize), u32(frameCount), u32(mappingCount));
  head.push(Buffer.of(objectCount, 0, 0, 0), u32(depth));
  const texts = objects.map(({ reference }) => Buffer.from(reference as Buffer));
  const objectTable = objects.map(({ identity, size }, index) =>
    Buffer.concat([
      identity ?? blake3(Buffer.of(index)),
      ...[u64(size ?? 2 ** 20), u16(texts[index]!.length), Buffer.alloc(6)],
    ]),
  );
  const frameTable = frames.map(({ object, fileOffset, rawLength, bytes }) =>
    Buffer.concat([
      ...[blake3(bytes), u64(fileOffset), u32(bytes.length), u32(rawLength)],
      Buffer.of(object, 0, 0, 0),
    ]),
  );
  const mappingTable = frames.map(({ rawLength }, index) =>
    Buffer.concat([u32(Math.ceil(rawLength / BLOCK)), u32(index), u32(0)]),
  );
  const content = Buffer.concat([
    ...head,
    ...objectTable,
    ...frameTable,
    ...mappingTable,
    ...texts,
  ]);
  const header = Buffer.concat([u64("hedgevhs"), u16(2), u16(0), u32(pieceSize), u64(imageSize)]);
  const own = frames.filter(({ object }) => object === 0).map(({ bytes }) => bytes);
  return Buffer.concat([
    ...[u32(0x184d2a57), u32(header.length), header, MARK, ...own],
    ...[u32(0x184d2a58), u32(content.length + 32), content, blake3(content)],
    ...[u32(content.length + 32), Buffer.of(0), Buffer.from("vhsd")],
  ]);
}

function u16(number: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16LE(number);
  return bytes;
}

function u32(number: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number);
  return bytes;
}

function u64(value: number | string): Buffer {
  const bytes = Buffer.alloc(8);
  if (typeof value === "string") bytes.write(value, "latin1");
  else bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}
