/** A snapshot in an S3 store behind a tier, and hosts that restore it. */
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSnapshot, type GetOptions, ImageCache } from "@hedgerow/snapshot";
import { onTestFinished } from "vitest";

import { CacheProcess } from "../../js/snapshot/test/support/cache-job.js";
import { type S3Server, startS3 } from "../support/s3/server.js";
import { Store } from "../support/s3/store.js";
import { letters } from "../support/snapshots/image.js";
import { type InjectFault, startProxy } from "../support/snapshots/proxy.js";
import { type Counter, startCounter } from "../support/tier/counter.mjs";
import { startTier, type Tier, type TierOptions } from "../support/tier/nginx.mjs";

/** Options of a read that cross processes. */
export type ReadOptions = Omit<GetOptions, "signal" | "onProgress" | "resolve">;

export interface Image {
  readonly digest: string;
  /** The SHA-256 of the image. */
  readonly sum: string;
  /** The size of the snapshot, in bytes. */
  readonly bytes: number;
}

export interface StoredSnapshot extends Image {
  readonly s3: S3Server;
  readonly tier: Tier;
  /** Counts the bytes that the store sends to the tier. */
  readonly counter: Counter;
  /** The requests that the store receives from the tier. */
  readonly requests: readonly string[];
  readonly source: string;
  /** Returns the options to read from S3 at an address. */
  at(endpoint: string | URL): ReadOptions & { s3: { endpoint: string } };
  /** Creates the snapshot of another image in place of the snapshot. */
  replace(seed: string): Promise<Image>;
}

/** Creates a folder that is removed after the test. */
export function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-tier-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a store with the snapshot of an image of `size` bytes, and a tier. */
export async function storedSnapshot(
  size: number,
  {
    inject = () => undefined,
    ...options
  }: Omit<TierOptions, "store"> & { inject?: InjectFault } = {},
): Promise<StoredSnapshot> {
  const s3 = await startS3();
  onTestFinished(() => s3.close());
  const proxy = await startProxy(s3.endpoint, inject);
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const counter = await startCounter(proxy.endpoint);
  onTestFinished(() => counter.close());
  const tier = await startTier({ ...options, store: counter.url });
  onTestFinished(() => tier.close());
  const store = new Store(s3);
  onTestFinished(() => store.close());
  const key = "image.vhs";
  const { region, credentials } = s3;
  const at = (endpoint: string | URL) => ({
    s3: { endpoint: String(endpoint), region, credentials },
  });
  const replace = async (seed: string) => {
    const { file, ...image } = await snapshotOf(seed, size);
    await store.put(key, file);
    return image;
  };
  const source = `s3://${s3.bucket}/${key}`;
  const { requests } = proxy;
  return { ...(await replace("image")), s3, tier, counter, requests, source, at, replace };
}

/** The snapshots made so far: many tests store the same one. */
const made = new Map<string, Promise<Image & { readonly file: Buffer }>>();

/** Returns the snapshot of an image, which depends only on the seed and its size. */
function snapshotOf(seed: string, size: number): Promise<Image & { readonly file: Buffer }> {
  const name = `${seed} ${size}`;
  const snapshot = made.get(name) ?? makeSnapshot(letters(seed, size));
  made.set(name, snapshot);
  return snapshot;
}

async function makeSnapshot(content: Buffer): Promise<Image & { readonly file: Buffer }> {
  const folder = testFolder();
  const [image, snapshot] = [join(folder, "image"), join(folder, "image.vhs")];
  writeFileSync(image, content);
  const { digest, fileSize } = await createSnapshot(image, snapshot, ONE);
  return { digest, bytes: fileSize, sum: sumOf(content), file: readFileSync(snapshot) };
}

const sumOf = (content: Buffer) => createHash("sha256").update(content).digest("hex");

/** The images are small, and each worker compiles a module. */
export const ONE = { workers: 1 };

const OPENING = { maxBytes: 2 ** 40 };

/** A host: a cache of its own. */
export interface Host {
  /** Gets an image. Returns the SHA-256 of its content. */
  get(source: string, options: ReadOptions): Promise<string>;
}

/** Opens hosts in this process. They are closed when the test ends. */
export function openHosts(count: number): Promise<Host[]> {
  const open = async (): Promise<Host> => {
    const cache = await ImageCache.open(join(testFolder(), "cache"), OPENING);
    onTestFinished(() => cache.close());
    return {
      async get(source, options) {
        const image = await cache.get(source, { ...ONE, ...options });
        const sum = sumOf(readFileSync(image.path));
        await image.release();
        return sum;
      },
    };
  };
  return Promise.all(Array.from({ length: count }, open));
}

/** Starts hosts in processes of their own, and waits until all are ready. They are killed when the test ends. */
export function startHosts(count: number): Promise<Host[]> {
  const start = async (): Promise<Host> => {
    const directory = join(testFolder(), "cache");
    const started = CacheProcess.start({ directory, options: OPENING });
    await started.untilReported("ready");
    return {
      async get(source, options) {
        const { images, errors } = await started.get({ source, options, times: 1 });
        if (errors[0] !== undefined) throw Object.assign(new Error(errors[0].message), errors[0]);
        return images[0]!.sum;
      },
    };
  };
  return Promise.all(Array.from({ length: count }, start));
}
