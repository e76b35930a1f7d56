// The suite `disk`: boots from a disk, and readers of it.
import { floor, only, ours, own, rival } from "../comparison.mjs";

/** @typedef {import("../comparison.mjs").Comparison} Comparison */
/** @typedef {import("../generate.mjs").Section} Section */

/** Returns the suite of a quantity in records. @param {string} quantity */
const of = (quantity) => `disk-node24, ${quantity}`;

const FAST = "90 MB/s, 30 ms";
const SHARED = "60 MB/s shared, 30 ms";

/** Methods of a boot: all but the last are not timed over the slower network. */
const BOOT_METHODS = [
  ours("hedgerow, with a trace"),
  own("hedgerow, no trace"),
  own("hedgerow, another trace", "hedgerow, trace of others"),
  own("hedgerow, on demand"),
  own("hedgerow, trace alone"),
  rival("full restore"),
  rival("nbdkit curl", "`nbdkit curl`, on demand"),
  rival("qcow2 over HTTP", "qcow2 over HTTP, on demand"),
  floor("local file, nbdkit", "a local file over nbdkit"),
  floor("local file", "a local file"),
];
const ON_SHARED = ["hedgerow", "hedgerow, no trace", "full restore"];
const DRAWN = [
  ...ON_SHARED,
  ...["hedgerow, on demand", "nbdkit curl", "qcow2 over HTTP", "local file"],
];

const MILESTONES = [
  ["disk served", "served"],
  ["shell", "shell"],
  ["done", "done"],
];

/** @param {string} network @param {string} where @returns {Comparison[]} */
const bootsOn = (network, where) =>
  MILESTONES.map(([title = "", milestone = ""]) => ({
    ...{ title, place: `${title}, ${where}`, suite: of(`boot, ${milestone}`), workload: network },
    methods: BOOT_METHODS.filter(
      ({ method }) => milestone !== "served" || !method.startsWith("local file"),
    ),
  }));

const ON_FAST = bootsOn(FAST, FAST);
const ON_SLOW = bootsOn(SHARED, SHARED).map((one) => only(one, ON_SHARED));

const PIECES = ["64 KiB", "256 KiB", "1 MiB", "4 MiB"];

const REPLAYS = PIECES.map((size) => ({
  ...{ title: size, suite: of("replay"), workload: size },
  methods: [
    ours("hedgerow, with a trace"),
    own("hedgerow, no trace"),
    own("hedgerow, on demand"),
    floor("local file", "a local file"),
  ],
}));

/** @type {Section} */
export const BOOTS = {
  name: "boots",
  suite: "disk",
  answer: ({ at }) => {
    const done = at(of("boot, done"), FAST);
    return `A virtual machine that boots from a disk with a trace has run its programs after
      ${done.ours}; from a local file, that takes ${done.times("local file")} as long, without a
      trace ${done.times("hedgerow, no trace")}, after a full restore
      ${done.times("full restore")}, and with \`nbdkit curl\`, which fetches blocks on demand,
      ${done.times("nbdkit curl")}.`;
  },
  chart: {
    title: "Boot a virtual machine and run programs",
    lines: ["From the start of everything;", `${FAST} to the first byte.`],
    axis: "time, s",
    divide: 1000,
    comparisons: ON_FAST.map((one) => only(one, DRAWN)),
  },
  tables: {
    fast: { what: `${FAST}, ms`, comparisons: ON_FAST },
    shared: { what: `${SHARED}, ms`, comparisons: ON_SLOW },
    fetched: {
      head: ["fetched until done, MB", FAST, SHARED],
      rows: BOOT_METHODS.map(({ method, label }) => ({
        label,
        keys: [FAST, SHARED].map((network) => [of("boot, fetched"), network, method]),
      })),
    },
    ratios: {
      head: ["of the same round", "×"],
      rows: [
        ["done with a trace / from a local file", "with a trace / local file"],
        ["done with a trace / from a local file over nbdkit", "with a trace / local file, nbdkit"],
        ["done without a trace / after a full restore", "no trace / full restore"],
        ["done with a trace of other programs / without a trace", "another trace / no trace"],
        ["bytes of the trace alone / on demand", "trace alone / on demand, bytes"],
      ].map(([label = "", workload = ""]) => ({
        label,
        keys: [[of("boot, ratio"), workload, "hedgerow"]],
      })),
    },
    replays: { what: "the reads without pauses, by piece size, ms", comparisons: REPLAYS },
    pieces: {
      head: ["piece size", ...PIECES],
      rows: [
        ["snapshot, MB", "pieces, size"],
        ["first byte, ms", "pieces, first byte"],
      ].map(([label = "", quantity = ""]) => ({
        label,
        keys: PIECES.map((size) => [of(quantity), size, "hedgerow"]),
      })),
    },
    waits: {
      head: ["a reader’s wait, ms", FAST, SHARED],
      rows: [
        ["during the fill, median", "wait, median", "hedgerow"],
        ["without a fill, median", "wait, median", "no fill"],
        ["during the fill, 99th percentile", "wait, p99", "hedgerow"],
        ["without a fill, 99th percentile", "wait, p99", "no fill"],
      ].map(([label = "", quantity = "", method = ""]) => ({
        label,
        keys: [FAST, SHARED].map((network) => [of(quantity), network, method]),
      })),
    },
  },
  compared: [...ON_FAST, ...ON_SLOW],
};
