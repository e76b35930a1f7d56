// Other tools that keep disks in an object store: qcow2 overlays, and chunks of desync.
import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

import { GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";

import { goTool } from "../../../scripts/lib/go.mjs";
import { command, shell } from "../delta/methods.mjs";
import { greeting, start } from "../disk/nbd-servers.mjs";

/** @typedef {import("./inputs.mjs").Inputs} Inputs */

/** Makes an overlay of what differs from the base, as a virtual machine would have written it. */
const OVERLAY = `qemu-img create -q -f qcow2 -b "$1" -F raw "$3"
qemu-img rebase -q -f qcow2 -b "$2" -F raw "$3"`;

/** Compresses an overlay, and uploads it. */
const SAVE = `qemu-img convert -q -f qcow2 -O qcow2 -c -o compression_type=zstd -B "$1" -F raw "$2" "$3"
curl -s -f --noproxy '*' -T "$3" "$4"`;

const FETCH = `curl -s -f --noproxy '*' -o "$2" "$1"`;

/** Runs a command, and returns its time in milliseconds. @param {string[]} words */
const timed = async (words) => (await command("", words, { outputs: [] }).time()).elapsed;

/** Runs a script of the shell. @param {string} script @param {string[]} args */
const run = (script, ...args) => timed(shell(script, ...args));

/** Disks as qcow2 overlays, whose base and overlay are in the object store. @param {Inputs} inputs */
export async function makeOverlays({ inXfs, base, image, link, s3 }) {
  const { region, credentials } = s3.options;
  const { bucket: Bucket } = s3;
  const client = new S3Client({
    ...{ endpoint: link.endpoint, region, credentials, forcePathStyle: true },
    requestChecksumCalculation: "WHEN_REQUIRED",
  });
  const urlOf = (/** @type {string} */ Key) =>
    getSignedUrl(client, new GetObjectCommand({ Bucket, Key }), { expiresIn: 7200 });
  const uploadUrlOf = (/** @type {string} */ Key) =>
    getSignedUrl(client, new PutObjectCommand({ Bucket, Key }), { expiresIn: 7200 });
  const [overlay, saved, whole] = [
    inXfs("overlay.qcow2"),
    inXfs("saved.qcow2"),
    inXfs("base.qcow2"),
  ];
  await run(OVERLAY, image, base, overlay);
  const to = await uploadUrlOf("saved.qcow2");
  const save = () => run(SAVE, base, overlay, saved, to);
  const convert = `qemu-img convert -q -c -o compression_type=zstd -O qcow2 "$1" "$2"
    curl -s -f --noproxy '*' -T "$2" "$3"`;
  await run(convert, base, whole, await uploadUrlOf("base.qcow2"));
  await save();
  const [savedUrl, wholeUrl] = [await urlOf("saved.qcow2"), await urlOf("base.qcow2")];

  /** Downloads the overlay, and the base unless it is local, and serves them. @param {boolean} isCached whether the base is local */
  async function attach(isCached) {
    const folder = inXfs("qcow2");
    mkdirSync(folder);
    const [own, socket] = [join(folder, "overlay"), join(folder, "socket")];
    const begin = performance.now();
    const parent = isCached ? base : join(folder, "base");
    const fetches = [run(FETCH, savedUrl, own)];
    if (!isCached) fetches.push(run(FETCH, wholeUrl, parent));
    await Promise.all(fetches);
    await run(
      `qemu-img rebase -u -f qcow2 -b "$1" -F "$2" "$3"`,
      parent,
      isCached ? "raw" : "qcow2",
      own,
    );
    const server = start("qemu-nbd", "--persistent", "--format=qcow2", `--socket=${socket}`, own);
    await greeting(socket, server.hasEnded);
    const elapsed = performance.now() - begin;
    await server.stop();
    rmSync(folder, { recursive: true });
    return elapsed;
  }

  /** Makes overlays of the base, and serves all of them. @param {number} count */
  async function fork(count) {
    const folder = inXfs("forks");
    mkdirSync(folder);
    const begin = performance.now();
    const servers = await Promise.all(
      Array.from({ length: count }, async (_, number) => {
        const [own, socket] = [join(folder, `${number}`), join(folder, `${number}.socket`)];
        await run(`qemu-img create -q -f qcow2 -b "$1" -F raw "$2"`, base, own);
        const server = start(
          "qemu-nbd",
          "--persistent",
          "--format=qcow2",
          `--socket=${socket}`,
          own,
        );
        await greeting(socket, server.hasEnded);
        return server;
      }),
    );
    const elapsed = performance.now() - begin;
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true });
    return elapsed;
  }
  return { save, attach, fork, savedBytes: () => statSync(saved).size };
}

/** Disks as chunks of desync, in the object store. @param {Inputs} inputs */
export async function makeChunks({ inXfs, base, image, link, s3 }) {
  const { region, credentials } = s3.options;
  const env = {
    S3_ACCESS_KEY: credentials.accessKeyId,
    S3_SECRET_KEY: credentials.secretAccessKey,
    S3_REGION: region,
  };
  Object.assign(process.env, env);
  const store = `s3+${link.endpoint}/${s3.bucket}/chunks`;
  const [baseIndex, index, restored] = [
    inXfs("base.caibx"),
    inXfs("image.caibx"),
    inXfs("extracted"),
  ];
  const desync = (/** @type {string[]} */ ...args) => timed([goTool("desync"), ...args]);
  await desync("make", "-n", "32", "-s", store, baseIndex, base);
  const stored = () => sizeIn(join(s3.objects, "chunks"));
  const before = stored();
  let newBytes = 0;
  return {
    /** Adds the changed image, once. */
    async save() {
      const elapsed = await desync("make", "-n", "32", "-s", store, index, image);
      newBytes = stored() - before + statSync(index).size;
      return elapsed;
    },
    /** Restores the image. @param {boolean} isCached whether the base is local */
    async attach(isCached) {
      const seed = isCached ? ["--seed", `${baseIndex}:${base}`] : [];
      const elapsed = await desync("extract", "-n", "32", "-s", store, ...seed, index, restored);
      rmSync(restored);
      return elapsed;
    },
    savedBytes: () => newBytes,
  };
}

/** Returns the bytes of the files in a folder tree. @param {string} folder */
const sizeIn = (folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).reduce((sum, name) => {
    const found = statSync(join(folder, name));
    return sum + (found.isFile() ? found.size : 0);
  }, 0);
