/** The bodies of exchanges: deterministic bytes, compared by their digest. */
import { createHash, type Hash } from "node:crypto";
import { Random } from "../../../js/edge/test/support/random.js";
import type { Content } from "./exchange.js";

/** Length of the longest body, in bytes. */
export const MAX_LENGTH = 400_000;

const random = new Random(1);
const BYTES = Buffer.from(
  Uint32Array.from({ length: MAX_LENGTH / 4 }, () => random.below(2 ** 32)).buffer,
);

/** Returns the bytes of a body. */
export function contentOf(content: Content | null): Buffer {
  return BYTES.subarray(MAX_LENGTH - (content?.length ?? 0));
}

/** Returns the bytes of a body in chunks. */
export function* piecesOf(content: Content | null): Generator<Buffer> {
  const bytes = contentOf(content);
  const size = Math.max(1, Math.ceil(bytes.length / 3));
  for (let start = 0; start < bytes.length; start += size)
    yield bytes.subarray(start, start + size);
}

/** Returns the digest of bytes or of a stream. */
export async function digestOf(
  body: Uint8Array | AsyncIterable<Uint8Array> | null,
): Promise<string> {
  const digest: Hash = createHash("sha1");
  if (body instanceof Uint8Array) digest.update(body);
  else if (body !== null) for await (const piece of body) digest.update(piece);
  return digest.digest("hex");
}
