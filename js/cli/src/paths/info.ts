import { createReadStream } from "node:fs";
import { ReadableStream as WebStream } from "node:stream/web";

import type { Command } from "commander";
import { measurePathFilter, PathFilter } from "hedgerow";

import { escapeControls, jsonOf } from "../one-line.js";
import { grouped, print, table } from "../print.js";
import { bodyOf } from "./facts.js";
import { readingFilter } from "./read-filter.js";

/** Adds `hedgerow paths info`. */
export function addInfoCommand(paths: Command): void {
  paths
    .command("info")
    .description("print the parameters of a filter and its false-positive rate")
    .argument("<file>", "the filter")
    .option("--json", "print one JSON object", false)
    .action(info);
}

async function info(file: string, { json }: { json: boolean }): Promise<void> {
  const chunks: Buffer[] = [];
  // A stream, so that a file that is not a filter is rejected without reading all of it.
  const stream = WebStream.from(chunksOf(file, chunks)) as ReadableStream<Uint8Array>;
  const filter = await readingFilter(file, () => PathFilter.load(stream));
  const { version, bloom, wildcards = 0 } = filter.params;
  const content = Buffer.concat(chunks);
  const { bitsSet, falsePositiveRate } = await readingFilter(file, () =>
    measurePathFilter(content),
  );
  const body = bodyOf(filter.params);
  const { kind, n, m, s } = body;
  const bytes = content.length;
  if (json) {
    const facts = { ...body, wildcards, bytes, bitsSet, falsePositiveRate };
    await print(jsonOf({ version, ...facts }));
    return;
  }
  const bits = bloom ? m : 24 * m;
  const rows = {
    kind,
    version: escapeControls(version) || "none",
    paths: grouped(n),
    wildcards: wildcards === 0 ? "none" : `to depth ${wildcards}`,
    bytes: `${grouped(bytes)} (${(bytes / Math.max(n, 1)).toFixed(1)} a path)`,
    ...(bloom ? {} : { slots: grouped(m) }),
    bits: grouped(bits),
    "bits set": `${grouped(bitsSet)} (${((100 * bitsSet) / bits).toFixed(1)} %)`,
    ...(bloom ? { hashes: String(bloom.k) } : {}),
    seed: String(s),
    ...(bloom ? { "false positives, requested": String(bloom.p) } : {}),
    "false positives, expected": falsePositiveRate.toPrecision(3),
  };
  await print(table(rows));
}

/** Reads a file in chunks and collects them in `chunks`. */
async function* chunksOf(file: string, chunks: Buffer[]): AsyncGenerator<Buffer> {
  for await (const chunk of createReadStream(file)) {
    chunks.push(chunk);
    yield chunk;
  }
}
