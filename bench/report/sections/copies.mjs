// How long it takes to copy an image out of the cache, by its size and the file system.
import { ours, rival } from "../comparison.mjs";

const COPIES = [
  ours(),
  rival("cp --sparse=always", "`cp --sparse=always`"),
  rival("cp --reflink=auto", "`cp --reflink=auto`"),
];

const SHARED = [ours(), rival("cp --reflink=always", "`cp --reflink=always`")];

const SIZES = ["64 MiB", "256 MiB", "1 GiB", "4 GiB", "8 GiB"];

/** The sizes in tables. */
const SHOWN = ["64 MiB", "1 GiB", "4 GiB", "8 GiB"];

/** @param {string} what @param {string} place @param {import("../comparison.mjs").Method[]} methods */
const bySize = (what, place, methods) =>
  SIZES.map((size) => ({
    ...{ title: size, place: `${place}, ${size}`, suite: `cache-node20, ${what}` },
    ...{ workload: size, methods },
  }));

const COPIED = bySize("copies", "a copy on ext4", COPIES);
const CLONED = bySize("copies on XFS", "a copy on XFS", SHARED);

/** @param {typeof COPIED} comparisons */
const shown = (comparisons) => comparisons.filter(({ title }) => SHOWN.includes(title));

/** @returns {import("../generate.mjs").Section} */
export function copies() {
  return {
    name: "copies",
    suite: "cache",
    answer: ({ value, times }) => {
      const xfs = /** @type {const} */ (["cache-node20, copies on XFS", "4 GiB"]);
      const ext4 = /** @type {const} */ (["cache-node20, copies", "4 GiB"]);
      return [
        `Copying an image of 4 GiB takes ${value(...xfs, "hedgerow")} on XFS, which shares the`,
        `blocks, and ${value(...ext4, "hedgerow")} on ext4, where \`cp --sparse=always\` takes`,
        `${times([...ext4, "hedgerow"], [...ext4, "cp --sparse=always"])} as long.`,
      ].join(" ");
    },
    tables: {
      ext4: { what: "ext4, ms", comparisons: shown(COPIED) },
      XFS: { what: "XFS, ms", comparisons: shown(CLONED) },
    },
    plainTables: {
      restores: {
        head: ["restore to ext4", "ms", "MB sent"],
        rows: ["without a cache", "with a cache, a miss", "with a cache, a hit"].map((method) => ({
          label: method,
          keys: ["restores", "bytes sent"].map((what) => [
            `cache-node20, ${what}`,
            "1 GiB, 90 MB/s, 30 ms",
            method,
          ]),
        })),
      },
    },
    charts: {
      copies: {
        title: "Copy an image out of the cache",
        lines: ["ext4 copies the bytes; XFS shares the blocks."],
        axis: "time, ms",
        log: true,
        comparisons: [
          ...shown(COPIED).map((one) => ({ ...one, title: `ext4, ${one.title}` })),
          ...shown(CLONED)
            .slice(-1)
            .map((one) => ({ ...one, title: `XFS, ${one.title}` })),
        ],
      },
    },
    compared: [...COPIED, ...CLONED],
  };
}
