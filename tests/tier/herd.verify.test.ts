/** Many hosts that restore one snapshot at once through a tier. */
import { createHash } from "node:crypto";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createSnapshot } from "@hedgerow/snapshot";
import { expect, onTestFinished, test } from "vitest";

import { startOriginProcess } from "../support/origin-process.js";
import { letters } from "../support/snapshots/image.js";
import { startCounter } from "../support/tier/counter.mjs";
import { startTier } from "../support/tier/nginx.mjs";
import { minutes, trials } from "../support/trials.js";
import { startHosts, storedSnapshot, testFolder } from "./stored.js";

const HOSTS = trials({ few: 4, all: 20 });

const SIZE = trials({ few: 16, all: 32 }) * 2 ** 20;

/** Twenty processes share the processors of the machine. */
const LIMIT = minutes({ all: 3 });

/** One worker each, for the same reason. */
const FEW = { workers: 1 };

test(
  `${HOSTS} hosts restore a snapshot at once, and an S3 store sends it at most 1.1 times`,
  LIMIT,
  async () => {
    const { tier, counter, source, digest, sum, bytes, at } = await storedSnapshot(SIZE);
    const hosts = await startHosts(HOSTS);
    const options = { ...at(tier.url), ...FEW, digest };
    const sums = await Promise.all(hosts.map((host) => host.get(source, options)));
    expect(sums).toEqual(Array(HOSTS).fill(sum));
    expect(counter.bytes() / bytes).toBeLessThan(1.1);
    // Every byte came through the tier.
    expect(counter.bytes()).toBeGreaterThan(bytes);
  },
);

test(
  `${HOSTS} hosts restore a snapshot at once, and an HTTP server sends it at most 1.1 times`,
  LIMIT,
  async () => {
    const folder = testFolder();
    const [image, snapshot] = [join(folder, "image"), join(folder, "image.vhs")];
    const content = letters("http", SIZE);
    writeFileSync(image, content);
    const { digest } = await createSnapshot(image, snapshot, FEW);
    const origin = await startOriginProcess(["--file", snapshot]);
    onTestFinished(() => origin.close());
    const counter = await startCounter(origin.url);
    onTestFinished(() => counter.close());
    const tier = await startTier({ store: counter.url });
    onTestFinished(() => tier.close());
    const hosts = await startHosts(HOSTS);
    const source = new URL("/image.vhs", tier.url).href;
    const sums = await Promise.all(hosts.map((host) => host.get(source, { ...FEW, digest })));
    const sum = createHash("sha256").update(content).digest("hex");
    expect(sums).toEqual(Array(HOSTS).fill(sum));
    expect(counter.bytes() / statSync(snapshot).size).toBeLessThan(1.1);
    expect(counter.bytes()).toBeGreaterThan(statSync(snapshot).size);
  },
);
