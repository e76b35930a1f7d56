/** Reads images in OCI layouts, and the layers of images. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";

import { engineOutput } from "../engine.js";
import { CliError } from "../error.js";
import { expecting } from "../files/input.js";
import { excerptOf, Json } from "../files/json.js";

type Compression = "none" | "gzip" | "zstd" | "xz";

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

/** A layer of an image: a tar archive, perhaps compressed, whose digests are checked each time that it is read. */
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
function digestParts(digest: string): readonly [algorithm: "sha256" | "sha512", hex: string] {
  const [, algorithm, hex] = /^(sha256|sha512):([0-9a-f]+)$/.exec(digest) ?? [];
  const length = algorithm === "sha256" ? 64 : 128;
  if (hex?.length !== length) {
    const found = excerptOf(digest);
    throw new CliError("ERR_SOURCE", `expected a digest of SHA-256 or SHA-512, found ${found}`);
  }
  return [algorithm as "sha256", hex];
}

function checkDigest(name: string, found: string, expected: string): void {
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

/** The maximum size of a manifest, an index and a configuration, in bytes. */
const MAX_JSON = 4 * 2 ** 20;

/** The maximum number of indexes within one another. */
const MAX_DEPTH = 4;

/** How an image is started. */
export interface ImageConfig {
  readonly entrypoint: readonly string[];
  readonly cmd: readonly string[];
  readonly env: readonly string[];
  readonly user: string;
  readonly workingDir: string;
  /** The digests of the archives of its layers, the lowest first. */
  readonly layers: readonly string[];
}

/** An operating system, a processor, and perhaps its variant. */
export interface Platform {
  readonly os: string;
  readonly architecture: string;
  readonly variant: string | undefined;
}

/** The layers of an image, the lowest first. */
export interface Source {
  readonly layers: readonly Layer[];
  /** Missing for a folder and for a tar archive. */
  readonly config: ImageConfig | undefined;
}

const OCI = "application/vnd.oci.image.";
const DOCKER = "application/vnd.docker.";

const INDEXES = [`${OCI}index.v1+json`, `${DOCKER}distribution.manifest.list.v2+json`];

const MANIFESTS = [`${OCI}manifest.v1+json`, `${DOCKER}distribution.manifest.v2+json`];

const CONFIGS = [`${OCI}config.v1+json`, `${DOCKER}container.image.v1+json`];

/** Types of layers. Some programs give an archive that is not compressed the type of one that is. */
const LAYERS = [
  ...["", "+gzip", "+zstd"].flatMap((compression) => [
    `${OCI}layer.v1.tar${compression}`,
    `${OCI}layer.nondistributable.v1.tar${compression}`,
  ]),
  `${DOCKER}image.rootfs.diff.tar`,
  `${DOCKER}image.rootfs.diff.tar.gzip`,
  `${DOCKER}image.rootfs.foreign.diff.tar.gzip`,
];

/**
 * Opens an image in an OCI layout.
 *
 * @param tag the tag of the image; it may be left out if the layout has one image
 * @throws {CliError} `ERR_SOURCE`
 */
export async function openLayout(
  folder: string,
  tag: string | undefined,
  platform: Platform,
): Promise<Source> {
  const layout = await expecting(join(folder, "oci-layout"), "the file of an OCI layout", () =>
    readJson(join(folder, "oci-layout")),
  );
  const version = layout.get("imageLayoutVersion");
  if (!version.is("1.0.0")) throw version.error('"1.0.0"');
  const index = await readJson(join(folder, "index.json"));
  const manifest = await findManifest(folder, taggedIn(index, tag), platform, MAX_DEPTH);
  const config = await readBlob(folder, manifest.get("config"), CONFIGS);
  const os = config.get("os").stringIfThere() ?? "linux";
  if (os !== "linux") throw config.get("os").error('"linux"');
  const diffIds = config
    .get("rootfs")
    .get("diff_ids")
    .items()
    .map((digest) => digest.string());
  const layers = manifest.get("layers").items();
  if (diffIds.length !== layers.length) {
    throw config.get("rootfs").get("diff_ids").error(`digests of ${layers.length} layers`);
  }
  const opened = layers.map((layer, at) => openLayer(folder, layer, diffIds[at]!, at));
  return { layers: await Promise.all(opened), config: configOf(config.get("config"), diffIds) };
}

/** Returns the descriptor with a tag, or the only one. */
function taggedIn(index: Json, tag: string | undefined): Json {
  const all = index.get("manifests").items();
  const tagOf = (each: Json) =>
    each.get("annotations").get("org.opencontainers.image.ref.name").stringIfThere();
  const found = tag === undefined ? all : all.filter((each) => tagOf(each) === tag);
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  const tags = excerptOf(all.flatMap((each) => tagOf(each) ?? []));
  const wanted = tag === undefined ? "one image, or a tag after the folder" : `one image ${tag}`;
  const message = `index.json: expected ${wanted}, found ${found.length} images; tags: ${tags}`;
  throw new CliError("ERR_SOURCE", message);
}

/** Reads the manifest that a descriptor refers to, through an index of platforms if there is one. */
async function findManifest(
  folder: string,
  descriptor: Json,
  platform: Platform,
  maxDepth: number,
): Promise<Json> {
  const content = await readBlob(folder, descriptor, [...INDEXES, ...MANIFESTS]);
  if (MANIFESTS.some((type) => descriptor.get("mediaType").is(type))) return content;
  const all = content.get("manifests");
  const wanted = all.items().filter((each) => isFor(each.get("platform"), platform));
  const [first] = wanted;
  if (first === undefined || maxDepth === 0) {
    const { os, architecture, variant } = platform;
    const name = [os, architecture, variant].filter((part) => part !== undefined).join("/");
    throw new CliError("ERR_SOURCE", `the image has nothing for ${name}: pass --platform`);
  }
  return findManifest(folder, first, platform, maxDepth - 1);
}

function isFor(found: Json, { os, architecture, variant }: Platform): boolean {
  const isSame = found.get("os").is(os) && found.get("architecture").is(architecture);
  return isSame && (variant === undefined || found.get("variant").is(variant));
}

/** Reads a blob of JSON, and checks its type and digest. */
async function readBlob(folder: string, descriptor: Json, types: readonly string[]): Promise<Json> {
  const type = descriptor.get("mediaType");
  if (!types.some((each) => type.is(each))) throw type.error(types[0]!);
  const { path, digest } = blobOf(folder, descriptor);
  const bytes = await readBounded(fileChunks(path), path);
  const [algorithm] = digestParts(digest);
  checkDigest(path, `${algorithm}:${createHash(algorithm).update(bytes).digest("hex")}`, digest);
  return Json.parse(bytes.toString(), path);
}

/** Reads a file of JSON without a digest. */
async function readJson(path: string): Promise<Json> {
  return Json.parse((await readBounded(fileChunks(path), path)).toString(), path);
}

/** Reads JSON of bounded size: a file may be a link to a device. @throws {CliError} `ERR_SOURCE` */
export async function readBounded(chunks: AsyncIterable<Buffer>, name: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of chunks) {
    size += part.length;
    if (size > MAX_JSON) {
      throw new CliError("ERR_SOURCE", `${name}: expected at most ${MAX_JSON} bytes, found more`);
    }
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function blobOf(folder: string, descriptor: Json) {
  const digest = descriptor.get("digest").string();
  return { path: join(folder, "blobs", ...digestParts(digest)), digest };
}

async function openLayer(folder: string, layer: Json, diffId: string, at: number): Promise<Layer> {
  const type = layer.get("mediaType");
  if (!LAYERS.includes(type.string())) throw type.error("the type of a layer in a tar archive");
  const { path, digest } = blobOf(folder, layer);
  digestParts(diffId);
  const kind = await kindOf(path);
  const compression = kind === "tar" || kind === "other" ? "none" : kind;
  const name = `layer ${at + 1} (${digest.slice(0, 19)})`;
  return new Layer({ name, open: () => fileChunks(path), compression, digest, diffId });
}

function configOf(config: Json, layers: readonly string[]): ImageConfig {
  const list = (name: string) =>
    config
      .get(name)
      .items()
      .map((item) => item.string());
  return {
    entrypoint: list("Entrypoint"),
    cmd: list("Cmd"),
    env: list("Env"),
    user: config.get("User").stringIfThere() ?? "",
    workingDir: config.get("WorkingDir").stringIfThere() || "/",
    layers,
  };
}
