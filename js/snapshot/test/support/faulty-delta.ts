/** Deltas on servers that fail at one of the files that hold their data. */
import type { RestoreOptions, SnapshotError } from "@hedgerow/snapshot";
import { beforeAll } from "vitest";

import type { Faults } from "../../../../tests/origin/fault.mjs";
import type { Origin } from "../../../../tests/origin/origin.mjs";
import { noise } from "../../../../tests/support/snapshots/image.js";
import { trials } from "../../../../tests/support/trials.js";
import { type Chain, makeChain } from "./deltas.js";
import { path, restore } from "./faulty.js";
import { originOf } from "./remote.js";
import { manifestOf } from "./resume-state.js";

/** The files of a delta: its own, its base, and the base of that. */
export const FILES = ["a.vhs", "first.vhs", "base.vhs"] as const;

export type ChainFile = (typeof FILES)[number];

export let chain: Chain;

/** What errors name: the URL of the delta, or the identity of a base object. */
let names: ReadonlyMap<ChainFile, string>;

beforeAll(async () => {
  chain = await makeChain(path);
  const digests = await Promise.all(
    FILES.slice(1).map(async (file) => {
      const { info } = await manifestOf(path(file));
      return [file, `base object ${info.digest}`] as const;
    }),
  );
  names = new Map([["a.vhs", "/a.vhs"], ...digests]);
});

/**
 * Returns each fault with each of the files. `npm test` tries a third of the faults, with one of the files each: other
 * tests try all of them with a snapshot, which is read like each of the files.
 */
export function withFiles<T>(faults: Readonly<Record<string, T>>) {
  const all = Object.entries(faults).flatMap(([name, fault]) =>
    FILES.map((file) => ({ name, fault, file })),
  );
  return all.filter((_, index) => index % trials({ few: 3 * FILES.length + 1, all: 1 }) === 0);
}

/** Returns what errors about a file name. */
export const nameOf = (file: ChainFile) => names.get(file)!;

/** Serves the delta and its base objects. One of the files has faults. */
export async function serveDelta(file: ChainFile, faults?: Faults): Promise<Origin> {
  // Faults with other content are of a snapshot; this file has another length.
  const content = noise("other", chain.files[file].length);
  const served = Object.entries(chain.files).map(([name, bytes]) => [`/${name}`, bytes] as const);
  return originOf(Object.fromEntries(served), {
    faults: (request) => {
      const fault = request.path === `/${file}` ? faults?.(request) : undefined;
      return fault?.content === undefined ? fault : { ...fault, content };
    },
  });
}

/** Restores the delta of an origin, as {@link restore} does. Errors must name the file with the faults. */
export function restoreDelta(
  origin: Origin,
  file: ChainFile,
  options: RestoreOptions = {},
): Promise<SnapshotError | undefined> {
  return restore(origin, options, { bytes: chain.image, named: nameOf(file) });
}
