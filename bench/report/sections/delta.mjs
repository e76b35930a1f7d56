// The suite `delta`: creating snapshots relative to others, their size, and restoring them.
import { floor, only, ours, own, rival } from "../comparison.mjs";

/** @typedef {import("../comparison.mjs").Comparison} Comparison */
/** @typedef {import("../comparison.mjs").Method} Method */
/** @typedef {import("../generate.mjs").Section} Section */

const SHARES = ["0.01 %", "0.1 %", "1 %", "10 %", "100 %"];
const MAIN = "1 %";
const SCATTERED = ["300 writes of 64 KiB", "5,000 writes of 4 KiB"];

const CREATE = "delta-node20, create";
const SIZE = "delta-node20, size";
const RESTORE = "delta-node20, restore";
const ON_EXT4 = "delta-node20, restore to ext4";
const FLATTEN = "delta-node20, flatten";
const CHAIN = "delta-node20, restore a chain";

const FULL = own("hedgerow, full", "hedgerow, a full snapshot");

/** @param {string} suite @param {string} what @param {Method[]} methods @param {string[]} [workloads] */
const byShare = (suite, what, methods, workloads = SHARES) =>
  workloads.map((workload) => ({
    ...{ title: workload, place: `${what}, ${workload} changed`, suite, workload, methods },
  }));

const CREATING = byShare(CREATE, "creating", [
  ours("hedgerow, XFS"),
  own("hedgerow, changed", "hedgerow, ranges known"),
  own("hedgerow, ext4", "hedgerow, ext4"),
  own("hedgerow, nothing known", "hedgerow, nothing known"),
  FULL,
  rival("desync", "`desync make`"),
  rival("qcow2", "`qemu-img`"),
  rival("zstd --patch-from", "`zstd --patch-from`"),
  floor("reading both images", "reading both images"),
]);

const SIZES_OF = [
  ours(),
  FULL,
  rival("desync", "`desync`, new chunks"),
  rival("qcow2", "qcow2, an overlay"),
  rival("zstd --patch-from", "`zstd --patch-from`"),
  floor("zstd -3 of the changed blocks", "`zstd -3`, the blocks"),
  floor("zstd -3 of the changed blocks of each MiB", "`zstd -3`, by MiB"),
];
const SIZES = byShare(SIZE, "size", SIZES_OF);
const SCATTERED_SIZES = SCATTERED.map((workload) => ({
  ...{ title: workload, place: `size, ${workload}`, suite: SIZE, workload },
  methods: SIZES_OF.filter(
    ({ method }) => !["hedgerow, full", "zstd --patch-from"].includes(method),
  ),
}));

const RESTORE_METHODS = [
  ours("hedgerow, base cached"),
  own("hedgerow, nothing cached"),
  FULL,
  rival("desync", "`desync` with a seed"),
  rival("qcow2", "`qemu-img commit`"),
  floor("cp", "`cp` of the base"),
  floor("cp, then fsync", "`cp`, then `sync`"),
];
const RESTORING = byShare(RESTORE, "restoring to XFS", RESTORE_METHODS);
const TO_EXT4 = byShare(ON_EXT4, "restoring to ext4", RESTORE_METHODS, [MAIN]);

/** Ends of the names of suites: the whole process, and its parts. */
const WHOLE_PROCESS = ["", ", the call", ", processor time", ", peak memory"];

/** @type {Section} */
export const DELTAS = {
  name: "changes",
  suite: "delta",
  answer: ({ at }) => {
    const create = at(CREATE, MAIN);
    const restore = at(RESTORE, MAIN);
    return `If 1 % of the data of an image changed, creating a delta on XFS takes ${create.ours}
      and a full snapshot ${create.times("hedgerow, full")} as long. The delta has
      ${at(SIZE, MAIN).ours}, a full snapshot ${at(SIZE, MAIN).times("hedgerow, full")} as
      much. Restoring it from a server, with the base in the cache, takes ${restore.ours}, and a
      full snapshot ${restore.times("hedgerow, full")} as long.`;
  },
  chart: {
    title: "Create a snapshot, by share of the data changed",
    lines: ["An ext4 image of 4 GiB, Node 20."],
    axis: "time, s",
    log: true,
    divide: 1000,
    comparisons: CREATING.map((one) => ({
      ...only(one, ["hedgerow", "hedgerow, ext4", "hedgerow, full", "desync", "qcow2"]),
      title: `${one.title} changed`,
    })),
  },
  tables: {
    create: { what: "create, ms", comparisons: CREATING },
    size: { what: "kB", comparisons: SIZES },
    scattered: { what: "kB", comparisons: SCATTERED_SIZES },
    restore: { what: "restore to XFS, ms", comparisons: RESTORING },
    ext4: {
      what: "ms",
      comparisons: TO_EXT4.map((one) => ({ ...one, title: "restore to ext4, 1 % changed" })),
    },
    chain: {
      what: "restore, nothing cached, ms",
      comparisons: [
        {
          ...{ title: "a delta with 8 base objects", suite: CHAIN, workload: "8 deltas" },
          methods: [ours(), FULL],
        },
      ],
    },
    flatten: {
      head: ["a full snapshot in S3, 1 % changed", "process, ms", "kB over the wire"],
      rows: [
        ["flatten the delta", "hedgerow"],
        ["restore the delta, then create it", "hedgerow, restore and create"],
        ["create it from the image, which is at hand", "hedgerow, full"],
        ["the size of the snapshot", "size of the snapshot"],
      ].map(([label = "", method = ""]) => ({
        label,
        keys: ["", ", bytes over the wire"].map((what) => [FLATTEN + what, MAIN, method]),
      })),
    },
    process: {
      head: ["1 % changed, Node 20", "process, ms", "call, ms", "processor, ms", "memory, MiB"],
      rows: [
        ["create, XFS", CREATE, "hedgerow"],
        ["create, ext4", CREATE, "hedgerow, ext4"],
        ["create, ranges known", CREATE, "hedgerow, changed"],
        ["create, nothing known", CREATE, "hedgerow, nothing known"],
        ["create, a full snapshot", CREATE, "hedgerow, full"],
        ["restore to XFS, base cached", RESTORE, "hedgerow"],
        ["restore to XFS, base cached, the second in a process", RESTORE, "hedgerow, second call"],
        ["restore to ext4, base cached", ON_EXT4, "hedgerow"],
        ["restore, nothing cached", RESTORE, "hedgerow, nothing cached"],
        ["restore, a full snapshot", RESTORE, "hedgerow, full"],
        ["flatten in S3", FLATTEN, "hedgerow"],
      ].map(([label = "", suite = "", method = ""]) => ({
        label,
        keys: WHOLE_PROCESS.map((what) => [suite + what, MAIN, method]),
      })),
    },
  },
  compared: [...CREATING, ...SIZES, ...SCATTERED_SIZES, ...RESTORING, ...TO_EXT4],
};
