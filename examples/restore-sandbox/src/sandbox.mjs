// Makes, stops and resumes sandboxes. The disk of a sandbox that runs is an image in a folder; that of one
// that is stopped, a snapshot in a bucket, and a note of which one. New ones begin as a copy of a base image,
// whose snapshot is in the bucket, and which is kept in a cache.
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

import { createSnapshot, ImageCache, restoreSnapshot } from "@hedgerow/snapshot";

const FOLDER = "sandboxes";
const BASES = "bases";
const CACHE = "cache";
const CACHE_BYTES = 20 * 2 ** 30;
const { SANDBOX_BUCKET } = process.env;

const interrupted = new AbortController();
const { signal } = interrupted;
process.once("SIGINT", () => interrupted.abort(new Error("interrupted")));

/** Where the disk of a sandbox is, where its snapshot is, and where the note of that is. @param {string} name */
function placesOf(name) {
  return {
    image: join(FOLDER, `${name}.img`),
    note: join(FOLDER, `${name}.json`),
    snapshot: `s3://${SANDBOX_BUCKET}/${FOLDER}/${name}.vhs`,
  };
}

/** What a note says; nothing, if there is none. @param {string} path @returns {Promise<{ digest?: string }>} */
async function readNote(path) {
  const text = await readFile(path, "utf8").catch((error) => {
    if (error.code === "ENOENT") return "{}";
    throw error;
  });
  return JSON.parse(text);
}

/** Writes a note whole or not at all. @param {string} path @param {object} note */
async function writeNote(path, note) {
  const written = `${path}.${process.pid}.new`;
  await writeFile(written, JSON.stringify(note), { flush: true });
  await rename(written, path);
}

/** @param {string} name @param {string} base */
async function create(name, base) {
  const { image, note } = placesOf(name);
  const { digest: stopped } = await readNote(note);
  if (stopped) throw new Error(`${name}: expected a new name, found a sandbox`);
  for (const folder of [FOLDER, BASES]) await mkdir(folder, { recursive: true });
  const pin = join(BASES, `${base}.json`);
  const { digest } = await readNote(pin);
  const cache = await ImageCache.open(CACHE, { maxBytes: CACHE_BYTES });
  try {
    // With its digest, an image that is in the cache is got without a network.
    const options = { digest, copyTo: image, overwrite: false, signal };
    const { hit, info } = await cache.get(`s3://${SANDBOX_BUCKET}/${BASES}/${base}.vhs`, options);
    // All further sandboxes begin as the first one did, whoever else may write to the bucket.
    if (!digest) await writeNote(pin, { digest: info.digest });
    const from = hit ? "from the cache" : "fetched";
    console.log(`${name}: ${info.imageSize} bytes begin as ${base}, ${from}`);
  } finally {
    await cache.close();
  }
}

/** Nothing may write to the image any more. @param {string} name */
async function stop(name) {
  const { image, note, snapshot } = placesOf(name);
  const { digest, imageSize, fileSize } = await createSnapshot(image, snapshot, { signal });
  // The image goes last: whatever fails before, it is all there still.
  await writeNote(note, { digest, imageSize });
  await rm(image);
  console.log(`${name}: ${imageSize} bytes are stopped, as ${fileSize}`);
}

/** @param {string} name */
async function resume(name) {
  const { image, note, snapshot } = placesOf(name);
  const { digest } = JSON.parse(await readFile(note, "utf8"));
  // The digest makes it the very disk that was stopped, whoever else may write to the bucket. What was
  // restored when this was interrupted need not be fetched again, and a sandbox that runs is let alone.
  const options = { digest, resume: true, overwrite: false, signal };
  const { imageSize, duration } = await restoreSnapshot(snapshot, image, options);
  console.log(`${name}: ${imageSize} bytes run again after ${Math.round(duration)} ms`);
}

async function list() {
  const files = new Set(await readdir(FOLDER));
  const names = [...files].flatMap((file) => /^([^.]+)\.(?:img|json)$/.exec(file)?.[1] ?? []);
  for (const name of new Set(names.sort())) {
    console.log(`${name}: ${files.has(`${name}.img`) ? "runs" : "is stopped"}`);
  }
}

const USAGE = "expected: create NAME BASE, stop NAME, resume NAME, or list";
const [command, name = "", base = ""] = process.argv.slice(2);
/** @param {string} text */
const isName = (text) => /^[\w-]+$/.test(text);
try {
  const action = { create, stop, resume, list }[command ?? ""];
  const areNamed = action === list || (isName(name) && (action !== create || isName(base)));
  if (action === undefined || !areNamed) throw new Error(USAGE);
  if (!SANDBOX_BUCKET) throw new Error("expected a bucket in SANDBOX_BUCKET, found none");
  await action(name, base);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
