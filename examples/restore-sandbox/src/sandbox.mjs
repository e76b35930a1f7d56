// Creates, stops and resumes sandboxes. The disk of a running sandbox is an image in a directory. The disk of a
// stopped one is a snapshot in a bucket, with a local record of its digest. A new sandbox starts as a copy of a
// base image, whose snapshot is in the bucket and which is kept in a cache.
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

/** Returns the paths of a sandbox's image and record, and the URL of its snapshot. @param {string} name */
function placesOf(name) {
  return {
    image: join(FOLDER, `${name}.img`),
    record: join(FOLDER, `${name}.json`),
    snapshot: `s3://${SANDBOX_BUCKET}/${FOLDER}/${name}.vhs`,
  };
}

/** Reads a record; an empty one if the file is missing. @param {string} path @returns {Promise<{ digest?: string }>} */
async function readRecord(path) {
  const text = await readFile(path, "utf8").catch((error) => {
    if (error.code === "ENOENT") return "{}";
    throw error;
  });
  return JSON.parse(text);
}

/** Writes a record atomically. @param {string} path @param {object} record */
async function writeRecord(path, record) {
  const written = `${path}.${process.pid}.new`;
  await writeFile(written, JSON.stringify(record), { flush: true });
  await rename(written, path);
}

/** @param {string} name @param {string} base */
async function create(name, base) {
  const { image, record } = placesOf(name);
  const { digest: stopped } = await readRecord(record);
  if (stopped) throw new Error(`${name}: a sandbox with this name exists; choose another name`);
  for (const folder of [FOLDER, BASES]) await mkdir(folder, { recursive: true });
  const pin = join(BASES, `${base}.json`);
  const { digest } = await readRecord(pin);
  const cache = await ImageCache.open(CACHE, { maxBytes: CACHE_BYTES });
  try {
    // With the digest, a cached image needs no network.
    const options = { digest, copyTo: image, overwrite: false, signal };
    const { hit, info } = await cache.get(`s3://${SANDBOX_BUCKET}/${BASES}/${base}.vhs`, options);
    // Pin the image, so that later sandboxes start from the same one even if the bucket changes.
    if (!digest) await writeRecord(pin, { digest: info.digest });
    const from = hit ? "from the cache" : "fetched";
    console.log(`${name}: created from ${base}, ${info.imageSize} bytes, ${from}`);
  } finally {
    await cache.close();
  }
}

/** Stops a sandbox. Nothing may write to its image any more. @param {string} name */
async function stop(name) {
  const { image, record, snapshot } = placesOf(name);
  const { digest, imageSize, fileSize } = await createSnapshot(image, snapshot, { signal });
  // Delete the image last, so that no failure loses it.
  await writeRecord(record, { digest, imageSize });
  await rm(image);
  console.log(`${name}: stopped, ${imageSize} bytes saved as ${fileSize}`);
}

/** @param {string} name */
async function resume(name) {
  const { image, record, snapshot } = placesOf(name);
  const { digest } = JSON.parse(await readFile(record, "utf8"));
  // `digest` restores exactly the disk that was stopped, even if the bucket changes. `resume` continues after an
  // interruption. `overwrite: false` protects a running sandbox.
  const options = { digest, resume: true, overwrite: false, signal };
  const { imageSize, duration } = await restoreSnapshot(snapshot, image, options);
  console.log(`${name}: resumed, ${imageSize} bytes in ${Math.round(duration)} ms`);
}

async function list() {
  const files = new Set(await readdir(FOLDER));
  const names = [...files].flatMap((file) => /^([^.]+)\.(?:img|json)$/.exec(file)?.[1] ?? []);
  for (const name of new Set(names.sort())) {
    console.log(`${name}: ${files.has(`${name}.img`) ? "running" : "stopped"}`);
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
  if (!SANDBOX_BUCKET) throw new Error("set SANDBOX_BUCKET to the name of a bucket");
  await action(name, base);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
