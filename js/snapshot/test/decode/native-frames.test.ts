/** `decode.wasm` decodes frames to the same bytes as native code. It has a patch of zstd: see `scripts/lib/zstd.mjs`. */
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

import { minutes, trials } from "../../../../tests/support/trials.js";
import { compareFrames } from "../support/native-frames.js";

const inRoot = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url));

/** A program, WebAssembly, JavaScript, JSON, text, and random bytes in Base64. */
const FILES = [
  process.execPath,
  inRoot("js/snapshot/wasm/encode_bg.wasm"),
  inRoot("js/snapshot/dist/index.js"),
  inRoot("package-lock.json"),
  inRoot("docs/vhs.md"),
  inRoot("js/snapshot/dist/wasm/encode-module.js"),
];

const FRAMES = trials({ few: 2000, all: 20_000 });

test("decodes frames of every level and window as native code does", async () => {
  const files = [process.execPath];
  const { decoded, refused } = await compareFrames({ kind: "grid", seed: 0, count: 0, files });
  expect([decoded, refused.size]).toEqual([19 * 15, 0]);
});

test(
  `decodes ${FRAMES} frames of real files as native code does`,
  minutes({ all: 5 }),
  async () => {
    const { decoded, refused } = await compareFrames({
      kind: "files",
      seed: 1,
      count: FRAMES,
      files: FILES,
    });
    expect([decoded, refused.size]).toEqual([FRAMES, 0]);
  },
);

const MUTATED = trials({ few: 2000, all: 1_000_000 });
const seed = Number(process.env.HEDGEROW_SEED ?? 1);

test(
  `decodes or refuses ${MUTATED} damaged frames of seed ${seed} as native code does`,
  minutes({
    all: 15,
  }),
  async () => {
    const { decoded, refused } = await compareFrames({
      kind: "mutated",
      seed,
      count: MUTATED,
      files: FILES,
    });
    expect(decoded + [...refused.values()].reduce((a, b) => a + b)).toBe(MUTATED);
    // The trials are of little use unless many frames reach the decoder of literals and sequences.
    expect(decoded).toBeGreaterThan(MUTATED / 10);
  },
);
