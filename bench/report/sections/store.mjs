// The suite `store`: disks that are attached, saved and forked, and stores that are collected.
import { floor, only, ours, own, rival } from "../comparison.mjs";

/** @typedef {import("../generate.mjs").Section} Section */

/** Returns the suite of a quantity in records. @param {string} quantity */
const of = (quantity) => `store-node24, ${quantity}`;

const CHANGED = "1 % changed";
const FORKS = "32 forks";
const MANY = "100,000 snapshots";
const [NOTHING, BASE] = ["nothing cached", "base cached"];

const QCOW2 = rival("qcow2", "`qemu-img` and `curl`");
const DESYNC = rival("desync", "`desync`");

const ATTACHING = [
  { title: NOTHING, suite: of("attach"), workload: NOTHING, methods: [ours(), QCOW2, DESYNC] },
  {
    ...{ title: BASE, suite: of("attach"), workload: BASE },
    methods: [
      ours(),
      own("hedgerow, detached here before"),
      own("hedgerow, a folder", "hedgerow, a store in a folder"),
      ...[QCOW2, DESYNC],
    ],
  },
].map((one) => ({ ...one, place: `attach, ${one.title}` }));

const SAVING = [
  {
    ...{ title: "save, 1 % changed", place: "save", suite: of("save"), workload: CHANGED },
    methods: [ours(), QCOW2, DESYNC],
  },
];

const SIZES = [
  {
    ...{ title: "1 % changed", place: "size", suite: of("save, size"), workload: CHANGED },
    methods: [
      ...[ours(), rival("qcow2", "qcow2, an overlay"), rival("desync", "`desync`, new chunks")],
      floor("zstd -3 of the changed blocks", "`zstd -3`, the blocks"),
      floor("zstd -3 of the changed blocks of each MiB", "`zstd -3`, by MiB"),
    ],
  },
];

const FORKING = [
  {
    ...{ title: "32 forks, attached and read", place: FORKS, suite: of("forks"), workload: FORKS },
    methods: [
      ...[ours("hedgerow, a folder"), own("hedgerow, S3")],
      rival("qcow2", "`qemu-img create` and `qemu-nbd`"),
    ],
  },
];

/** @type {Section} */
export const STORES = {
  name: "persistence",
  suite: "store",
  answer: ({ at }) => {
    const attach = at(of("attach"), NOTHING);
    const save = at(of("save"), CHANGED);
    const forks = at(of("forks"), FORKS);
    const collect = at(of("collect"), MANY);
    return `Attaching a stopped disk of 4 GiB from an object store takes ${attach.ours} until a byte of it
      was read, and with \`qemu-img\` and \`curl\` ${attach.times("qcow2")} as long. Saving it takes
      ${save.ours} if 1 % of its data has changed, ${save.times("qcow2")} as long with \`qemu-img\` and
      \`curl\`; its writes wait for ${at(of("save, pause"), CHANGED).ours} of that. 32 forks of a cached
      base are attached and read in ${forks.ours}. A collection of 100,000 snapshots takes
      ${collect.ours}.`;
  },
  chart: {
    title: "Stop a disk, and resume it elsewhere",
    lines: ["An ext4 image of 4 GiB, 90 MB/s a connection, 30 ms to the first byte, Node 24."],
    axis: "time, s",
    log: true,
    divide: 1000,
    comparisons: [...SAVING, ...ATTACHING].map((one) =>
      only({ ...one, title: one.place }, ["hedgerow", "qcow2", "desync"]),
    ),
  },
  tables: {
    attach: { what: "attach, until a byte was read, ms", comparisons: ATTACHING },
    save: { what: "ms", comparisons: SAVING },
    size: { what: "kB", comparisons: SIZES },
    forks: { what: "ms", comparisons: FORKING },
    others: {
      head: ["Hedgerow", ""],
      rows: [
        ["pause of writes in a save, ms", "save, pause", CHANGED],
        ["bytes of a save over those of `zstd -3`", "save, size by zstd", CHANGED],
        ["the same, of each MiB by itself", "save, size by zstd of each MiB", CHANGED],
        ["collect 100,000 snapshots, s", "collect", MANY],
        ["its peak memory, MiB", "collect, peak memory", MANY],
        ["its requests", "collect, requests", MANY],
      ].map(([label = "", quantity = "", workload = ""]) => ({
        ...{ label, keys: [[of(quantity), workload, "hedgerow"]] },
        ...(quantity === "collect" ? { divide: 1000 } : {}),
      })),
    },
  },
  compared: [...ATTACHING, ...SAVING, ...SIZES, ...FORKING],
};
