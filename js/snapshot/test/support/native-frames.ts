/** Decodes frames in WebAssembly, and compares with what native code decodes them to: see `crates/snapshot/examples/frames.rs`. */
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { FrameDecoder, initSync } from "../../wasm/decode.js";

const root = fileURLToPath(new URL("../../../../", import.meta.url));
const wasm = readFileSync(new URL("../../wasm/decode_bg.wasm", import.meta.url));

/** Lengths of what precedes a frame: the length of its reason, its record, and the digest of its data. */
const [LENGTH, RECORD, DIGEST] = [4, 64, 32];

/** Where a record has the length in the image, and the length of the frame. */
const [RAW_LENGTH, COMPRESSED_LENGTH] = [LENGTH + 16, LENGTH + 20];

const MAX_PIECE_SIZE = 2 ** 24;

/** What frames decoded to, by their outcome. */
export interface Outcomes {
  /** The number of frames that were decoded to the same bytes. */
  decoded: number;
  /** The number of frames that were refused for the same reason, by the reason. */
  readonly refused: Map<string, number>;
}

/** Frames to write: see `crates/snapshot/examples/frames.rs`. */
export interface FrameSet {
  readonly kind: "grid" | "files" | "mutated";
  readonly seed: number;
  readonly count: number;
  readonly files: readonly string[];
}

/** Decodes frames. @throws if one decodes to other bytes than natively, or is refused only in one of the two */
export async function compareFrames({ kind, seed, count, files }: FrameSet): Promise<Outcomes> {
  const outcomes: Outcomes = { decoded: 0, refused: new Map() };
  const decode = decoder();
  let at = 0;
  for await (const [expected, head, frame] of framesOf([kind, `${seed}`, `${count}`, ...files])) {
    const found = decode(head, frame);
    if (found !== expected) {
      const name = `frame ${at} of ${kind}, seed ${seed}`;
      throw new Error(`${name}: expected ${expected}, found ${found}: ${frame.toString("hex")}`);
    }
    at += 1;
    if (/^[0-9a-f]{64}$/.test(found)) outcomes.decoded += 1;
    else outcomes.refused.set(found, (outcomes.refused.get(found) ?? 0) + 1);
  }
  return outcomes;
}

/** Yields the native outcome of each frame: the digest of its data, or a reason; what precedes it; and the frame. */
async function* framesOf(args: readonly string[]): AsyncGenerator<[string, Buffer, Buffer]> {
  const child = spawn(program(), args, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    for (;;) {
      const start = LENGTH + RECORD + DIGEST;
      if (rest.length < start) break;
      const reasonEnd = start + rest.readUInt32LE(0);
      const end = reasonEnd + rest.readUInt32LE(COMPRESSED_LENGTH);
      if (rest.length < end) break;
      const reason = rest.toString("utf8", start, reasonEnd);
      const outcome = reason === "" ? rest.toString("hex", LENGTH + RECORD, start) : reason;
      yield [outcome, rest.subarray(0, start), rest.subarray(reasonEnd, end)];
      rest = rest.subarray(end);
    }
  }
  const status = await ended;
  if (status !== 0)
    throw new Error(`the program of native frames: expected status 0, found ${status}`);
  if (rest.length > 0) throw new Error(`expected whole frames, found ${rest.length} more bytes`);
}

/** Builds the program. Returns its path. */
function program(): string {
  const args = ["build", "--quiet", "--package", "hedgerow-snapshot", "--example", "frames"];
  execFileSync("cargo", args, { cwd: root, stdio: "pipe" });
  return `${root}target/debug/examples/frames`;
}

/** Returns a function that decodes a frame. */
function decoder(): (head: Buffer, frame: Buffer) => string {
  const { memory } = initSync({ module: new WebAssembly.Module(wasm) });
  const decoder = FrameDecoder.create(MAX_PIECE_SIZE, false);
  if (decoder === undefined) throw new Error("expected a decoder, found too little memory");
  const text = (start: number, length: number) =>
    Buffer.from(memory.buffer, start, length).toString("utf8");
  return (head, frame) => {
    const record = head.subarray(LENGTH, LENGTH + RECORD);
    new Uint8Array(memory.buffer).set(record, decoder.record());
    const start = decoder.begin(0);
    if (start !== 0) {
      new Uint8Array(memory.buffer).set(frame, start);
      if (decoder.finish(0, frame.length) >= 0) {
        const digest = decoder.out_digest(head.readUInt32LE(RAW_LENGTH));
        return Buffer.from(memory.buffer, digest, DIGEST).toString("hex");
      }
    }
    const error = decoder.take_error();
    if (error === undefined) return "out of memory";
    const message = text(error.message(), error.message_length());
    error.free();
    return message;
  };
}
