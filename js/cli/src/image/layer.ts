/** A layer of an image: a tar archive, perhaps compressed, whose digests are checked each time that it is read. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";

import { engineOutput } from "../engine.js";
import { CliError } from "../error.js";

export type Compression = "none" | "gzip" | "zstd" | "xz";

/** The size of reads, in bytes. */
const CHUNK = 2 ** 18;

interface LayerOptions {
  /** Name in errors. */
  readonly name: string;
  readonly open: () => AsyncIterable<Buffer>;
  readonly compression: Compression;
  /** The digest of the compressed bytes, such as `sha256:…`. */
  readonly digest?: string | undefined;
  /** The digest of the archive. */
  readonly diffId?: string | undefined;
}

export class Layer {
  readonly name: string;
  /** The digest of the archive, if the image has it. */
  readonly diffId: string | undefined;
  readonly #options: LayerOptions;

  constructor(options: LayerOptions) {
    this.name = options.name;
    this.diffId = options.diffId;
    this.#options = options;
  }

  /** Yields the archive. Throws at its end if a digest is wrong. */
  async *read(signal: AbortSignal): AsyncGenerator<Buffer> {
    const { open, compression, digest, diffId, name } = this.#options;
    const stored = checked(open(), digest, name);
    const archive = checked(decompress(stored, compression, name), diffId, name);
    for await (const chunk of archive) {
      signal.throwIfAborted();
      yield chunk;
    }
  }
}

/** Returns the bytes of a file. */
export const fileChunks = (path: string): AsyncIterable<Buffer> =>
  createReadStream(path, { highWaterMark: CHUNK });

/** Returns what a file is, by its first bytes. */
export async function kindOf(
  path: string,
): Promise<Exclude<Compression, "none"> | "tar" | "other"> {
  for await (const chunk of fileChunks(path)) {
    const starts = (start: string) => chunk.toString("latin1", 0, start.length) === start;
    if (starts("\x1f\x8b\x08")) return "gzip";
    if (starts("\x28\xb5\x2f\xfd")) return "zstd";
    if (starts("\xfd7zXZ\0")) return "xz";
    return chunk.toString("latin1", 257, 262) === "ustar" ? "tar" : "other";
  }
  return "other";
}

/** Returns the algorithm and the digits of a digest. @throws {CliError} `ERR_SOURCE` */
export function digestParts(
  digest: string,
): readonly [algorithm: "sha256" | "sha512", hex: string] {
  const [, algorithm, hex] = /^(sha256|sha512):([0-9a-f]+)$/.exec(digest) ?? [];
  const length = algorithm === "sha256" ? 64 : 128;
  if (hex?.length !== length) {
    throw new CliError("ERR_SOURCE", `expected a digest of SHA-256 or SHA-512, found ${digest}`);
  }
  return [algorithm as "sha256", hex];
}

export function checkDigest(name: string, found: string, expected: string): void {
  if (found === expected) return;
  throw new CliError("ERR_SOURCE", `${name}: expected the digest ${expected}, found ${found}`);
}

/** Passes chunks on, and throws at their end if they have another digest. */
async function* checked(
  chunks: AsyncIterable<Buffer>,
  digest: string | undefined,
  name: string,
): AsyncGenerator<Buffer> {
  if (digest === undefined) return yield* chunks;
  const [algorithm] = digestParts(digest);
  const hash = createHash(algorithm);
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
  checkDigest(name, `${algorithm}:${hash.digest("hex")}`, digest);
}

function decompress(
  chunks: AsyncIterable<Buffer>,
  compression: Compression,
  name: string,
): AsyncIterable<Buffer> {
  if (compression === "none") return chunks;
  return compression === "gzip"
    ? gunzip(chunks, name)
    : engineOutput(compression, ["-dc"], `read ${name}`, chunks);
}

async function* gunzip(chunks: AsyncIterable<Buffer>, name: string): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK });
  const piped = pipeline(chunks, gunzip);
  // Awaited below, unless the reader stops early.
  piped.catch(() => {});
  try {
    yield* gunzip as AsyncIterable<Buffer>;
    await piped;
  } catch (error) {
    throw isZlib(error)
      ? new CliError("ERR_SOURCE", `${name}: ${(error as Error).message}`)
      : error;
  } finally {
    gunzip.destroy();
  }
}

function isZlib(error: unknown): boolean {
  return String((error as NodeJS.ErrnoException).code).startsWith("Z_");
}
