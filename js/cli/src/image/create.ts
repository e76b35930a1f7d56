/** Makes a disk image of an image of a container, of a folder, or of an archive. */
import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { mkdir, stat, statfs } from "node:fs/promises";
import { join } from "node:path";

import { restoreSnapshot, type TransferOptions } from "@hedgerow/snapshot";

import { checkEngine, engineOutput, runEngine } from "../engine.js";
import { CliError } from "../error.js";
import { Json } from "../files/json.js";
import { CountedContent, writeExt4 } from "./ext4.js";
import { type ImageConfig, type Layer, type Platform, readBounded } from "./layout.js";
import { openSource } from "./source.js";
import { readTar, type TarEntry } from "./tar.js";
import { type Before, Tree } from "./tree.js";

/** Where the file system says how the program of the image is started. */
export const CONFIG_PATH = "/.hedgerow/image.json";

export interface ImageOptions {
  /** A private folder, where the image is made. */
  readonly folder: string;
  readonly platform: Platform;
  readonly format: "ext4" | "erofs";
  /** Bytes to leave free in the file system. */
  readonly free: number;
  /** A raw image or a snapshot of an earlier version. */
  readonly base: string | undefined;
  readonly transfer: TransferOptions;
  readonly signal: AbortSignal;
  readonly onProgress: (doing: string) => void;
}

/** A raw image in the private folder, and how its program is started. */
export interface ImageInfo {
  readonly path: string;
  readonly imageSize: number;
  readonly config: ImageConfig | undefined;
}

/** Whether a place is that of a snapshot, by its name. A raw image is a local file. */
export const isSnapshotPlace = (place: string) => place.endsWith(".vhs") || place.includes("://");

/** Makes a raw image in the private folder. The same source gives the same image. */
export async function createImage(source: string, options: ImageOptions): Promise<ImageInfo> {
  const { folder, base, format, onProgress } = options;
  mkdirSync(join(folder, "data"));
  writeFileSync(join(folder, "empty"), "");
  const image = join(folder, "image");
  const lower = base === undefined ? undefined : await openBase(base, image, options);
  const { root, before, config } = await mergeLayers(source, lower, options);
  onProgress("writing the file system");
  await writeExt4(root, { ...options, before });
  const path = format === "erofs" ? await toErofs(image, options) : image;
  return { path, imageSize: (await stat(path)).size, config };
}

/** Copies the base to the image. Returns the digests of its layers. */
async function openBase(base: string, image: string, options: ImageOptions): Promise<string[]> {
  const { transfer, signal, onProgress } = options;
  onProgress("copying the base");
  if (isSnapshotPlace(base)) await restoreSnapshot(base, image, { ...transfer, signal });
  else {
    // The mode of the base may be read-only.
    const args = ["--reflink=auto", "--sparse=always", "--no-preserve=mode", base, image];
    await runEngine("cp", args, { what: `copy ${base}`, signal });
  }
  const args = ["-R", `cat ${CONFIG_PATH}`, image];
  const output = engineOutput("debugfs", args, `read ${base}`);
  const text = (await readBounded(output, CONFIG_PATH)).toString();
  const layers = text === "" ? [] : Json.parse(text, CONFIG_PATH).get("layers").items();
  if (layers.length > 0) return layers.map((digest) => digest.string());
  const message = `--base ${base}: expected an image that hedgerow made of an image of a container`;
  throw new CliError("ERR_SOURCE", message);
}

/**
 * Reads all layers into a tree.
 *
 * @param lower digests of the layers of the base, whose tree is returned, too
 */
async function mergeLayers(
  source: string,
  lower: readonly string[] | undefined,
  options: ImageOptions,
) {
  const { layers, config } = await openSource(source, options);
  if (lower?.every((digest, at) => layers[at]?.diffId === digest) === false) {
    const message = `--base ${options.base}: expected an image of the first layers of ${source}`;
    throw new CliError("ERR_SOURCE", message);
  }
  const { bavail, bsize } = await statfs(options.folder);
  const tree = new Tree({ bytes: bavail * bsize });
  const finish = (layer: number) => {
    if (config !== undefined) addConfig(tree, layer, config, options.folder);
    tree.addLostAndFound();
  };
  let before: Before | undefined;
  for (let number = 0; ; number += 1) {
    if (number === lower?.length) {
      finish(number - 1);
      before = tree.copy();
    }
    const layer = layers[number];
    if (layer === undefined) break;
    options.onProgress(`reading layer ${number + 1} of ${layers.length}`);
    await addLayer(tree, layer, number, options);
  }
  finish(layers.length);
  return { root: tree.root, before, config };
}

/** Adds a layer to a tree, and writes its files to the private folder under numbers. */
async function addLayer(tree: Tree, layer: Layer, number: number, options: ImageOptions) {
  const { folder, signal } = options;
  let member = 0;
  for await (const entry of readTar(layer.read(signal), layer.name)) {
    const content = new CountedContent(join("data", `${number}-${member}`));
    member += 1;
    if (tree.add(entry, number, content, layer.name)) await writeData(folder, content, entry);
  }
}

/**
 * Writes the data of a file, and counts its blocks. The calls are synchronous: these are faster for small files, and most
 * are small.
 */
async function writeData(
  folder: string,
  content: CountedContent,
  { segments, size, data }: TarEntry,
): Promise<void> {
  const file = openSync(join(folder, content.file), "wx", 0o600);
  try {
    let [next, done] = [0, 0];
    for await (const part of data) {
      for (let at = 0; at < part.length; ) {
        const { offset, length } = segments[next]!;
        const left = Math.min(part.length - at, length - done);
        const written = writeSync(file, part, at, left, offset + done);
        content.count(part.subarray(at, at + written), offset + done);
        at += written;
        done += written;
        if (done === length) [next, done] = [next + 1, 0];
      }
    }
    ftruncateSync(file, size);
  } finally {
    closeSync(file);
  }
}

function addConfig(tree: Tree, layer: number, config: ImageConfig, folder: string): void {
  const bytes = Buffer.from(`${JSON.stringify(config)}\n`);
  const content = new CountedContent("config");
  content.count(bytes, 0);
  writeFileSync(join(folder, content.file), bytes);
  tree.addFile(CONFIG_PATH, layer, content);
}

/** Mounts the file system where no other process sees it, so that it goes with the program, and copies it. */
const EROFS_SCRIPT = `mount -o loop,ro,noload "$1" "$2" && exec mkfs.erofs --quiet -T0 \
-U"$(dumpe2fs -h "$1" 2>&1 | sed -n 's/^Filesystem UUID: *//p')" --exclude-path=lost+found "$3" "$2"`;

/** Copies an ext4 file system to one of EROFS, which is smaller and cannot be written to. */
async function toErofs(ext4: string, { folder, signal, onProgress }: ImageOptions) {
  if (process.getuid?.() !== 0) {
    throw new CliError("ERR_OUTPUT", "--format erofs: only root may mount the files to copy");
  }
  onProgress("writing EROFS");
  const [erofs, mounted] = [join(folder, "erofs"), join(folder, "mounted")];
  await mkdir(mounted);
  const what = "write EROFS";
  await checkEngine("mkfs.erofs", what);
  const script = ["sh", "-c", EROFS_SCRIPT, "sh", ext4, mounted, erofs];
  await runEngine("unshare", ["--mount", ...script], { what, signal });
  return erofs;
}
