/** A snapshot in an S3 store behind a tier, and hosts that restore it. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createSnapshot, type GetOptions } from "@hedgerow/snapshot";
import { onTestFinished } from "vitest";

import { CacheProcess } from "../../js/snapshot/test/support/cache-job.js";
import { type S3Server, startS3 } from "../support/s3/server.js";
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
  const source = `s3://${s3.bucket}/image.vhs`;
  const { region, credentials } = s3;
  const at = (endpoint: string | URL) => ({
    s3: { endpoint: String(endpoint), region, credentials },
  });
  const replace = async (seed: string) => {
    const image = join(testFolder(), "image");
    const content = letters(seed, size);
    writeFileSync(image, content);
    const { digest, fileSize } = await createSnapshot(image, source, {
      ...at(s3.endpoint),
      overwrite: true,
    });
    return { digest, bytes: fileSize, sum: createHash("sha256").update(content).digest("hex") };
  };
  const { requests } = proxy;
  return { ...(await replace("image")), s3, tier, counter, requests, source, at, replace };
}

/** A host: a process with a cache of its own. It is killed when the test ends. */
export class Host {
  readonly #process = CacheProcess.start({
    directory: join(testFolder(), "cache"),
    options: { maxBytes: 2 ** 40 },
  });

  /** Waits until its cache is open. */
  async ready(): Promise<this> {
    await this.#process.untilReported("ready");
    return this;
  }

  /** Gets an image. Returns the SHA-256 of its content. @throws an error with the code of the `SnapshotError` */
  async get(source: string, options: ReadOptions): Promise<string> {
    const { images, errors } = await this.#process.get({ source, options, times: 1 });
    if (errors[0] !== undefined) throw Object.assign(new Error(errors[0].message), errors[0]);
    return images[0]!.sum;
  }
}

/** Starts hosts, and waits until all are ready. */
export function startHosts(count: number): Promise<Host[]> {
  return Promise.all(Array.from({ length: count }, () => new Host().ready()));
}
