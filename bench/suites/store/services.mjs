// Restores and attachments from object services, beside parallel downloads by the clients of these services.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";

import { S3 } from "@aws-sdk/client-s3";
import { BlobServiceClient, StorageSharedKeyCredential } from "@azure/storage-blob";
import { Storage } from "@google-cloud/storage";

import { createSnapshot, DiskStore, restoreSnapshot } from "../../../js/snapshot/dist/index.js";
import { makeExt4Image } from "../../../scripts/lib/file-systems.mjs";
import "../../harness/typescript.mjs";
import { itself, resultsOf } from "../../harness/results.mjs";
import { takeTurns, timeOf } from "../../harness/turns.mjs";
import { about, timeToRead } from "./inputs.mjs";

/** @typedef {import("../../../tests/support/services.js").ServiceServer} Server */
/** Reads a range of an object. @typedef {(start: number, end: number) => Promise<Uint8Array>} Read */

/** How many ranges are read, and how many at once. */
const [RANGES, CONNECTIONS] = [32, 16];

/** The names of the objects, and of the disk. */
const [OBJECT, STORE, DISK] = ["image.vhs", "disks", "disk"];

/** How the client of each service reads a range of the object. @type {Record<"versitygw" | "Azurite" | "fake-gcs-server", (server: Server) => Read>} */
const CLIENTS = {
  versitygw: ({ bucket, endpoint, options: { s3 } }) => {
    const config = { ...s3, endpoint: endpoint.href, forcePathStyle: true };
    const client = new S3(/** @type {import("@aws-sdk/client-s3").S3ClientConfig} */ (config));
    const place = { Bucket: new URL(bucket).host, Key: OBJECT };
    return async (start, end) => {
      const { Body } = await client.getObject({ ...place, Range: `bytes=${start}-${end - 1}` });
      return Body?.transformToByteArray() ?? new Uint8Array();
    };
  },
  Azurite: ({ bucket, options: { azure } }) => {
    const { host: account, pathname } = new URL(bucket);
    const key = new StorageSharedKeyCredential(account, String(azure?.accountKey));
    const service = new BlobServiceClient(String(azure?.endpoint), key);
    const blob = service.getContainerClient(pathname.slice(1)).getBlobClient(OBJECT);
    return (start, end) => blob.downloadToBuffer(start, end - start);
  },
  "fake-gcs-server": ({ bucket, endpoint }) => {
    const storage = new Storage({ apiEndpoint: endpoint.origin, useAuthWithCustomEndpoint: false });
    const file = storage.bucket(new URL(bucket).host).file(OBJECT);
    return async (start, end) => {
      const [bytes] = await file.download({ start, end: end - 1, validation: false });
      return bytes;
    };
  },
};

/**
 * @param {Pick<import("./inputs.mjs").Inputs, "inXfs">} inputs
 * @param {import("./suite.mjs").Plan} plan
 */
export async function measureServices({ inXfs }, plan) {
  const { SERVERS } = await import("../../../tests/support/services.js");
  const [image, local] = [inXfs("service.img"), inXfs("service.vhs")];
  makeExt4Image(image, plan.service);
  await createSnapshot(image, local);
  const snapshot = readFileSync(local);
  const results = [];
  for (const [name, connect] of Object.entries(CLIENTS)) {
    const server = await SERVERS[/** @type {keyof typeof CLIENTS} */ (name)]();
    const { bucket, options } = server;
    const source = `${bucket}/${OBJECT}`;
    try {
      await createSnapshot(image, source, options);
      const store = await DiskStore.open(`${bucket}/${STORE}`, options);
      await store.create(DISK, { from: source });
      await store.close();
      const read = connect(server);
      if (!snapshot.equals(await download(read, snapshot.length)))
        throw new Error("the client has read other bytes");
      const restored = inXfs("restored.img");
      const methods = [
        {
          name: "its client, a download",
          time: () => timeOf(() => download(read, snapshot.length)),
        },
        {
          name: "hedgerow, restore",
          async time() {
            rmSync(restored, { force: true });
            return timeOf(() => restoreSnapshot(source, restored, options));
          },
        },
        {
          name: "hedgerow, attach and read",
          async time() {
            const images = mkdtempSync(inXfs("host-"));
            const host = await DiskStore.open(`${bucket}/${STORE}`, { ...options, images });
            const elapsed = await timeToRead(host, DISK);
            await host.close();
            return elapsed;
          },
        },
      ];
      const timed = await takeTurns(methods, plan.fastRounds);
      results.push(
        ...resultsOf(about("services", name), timed, itself, { bytes: snapshot.length }),
      );
    } finally {
      await server.close();
    }
  }
  return results;
}

/** Reads an object with many connections. @param {Read} read @param {number} length */
async function download(read, length) {
  const bytes = new Uint8Array(length);
  const step = Math.ceil(length / RANGES);
  let next = 0;
  const readAll = async () => {
    while (next < length) {
      const start = next;
      next += step;
      bytes.set(await read(start, Math.min(start + step, length)), start);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, readAll));
  return bytes;
}
