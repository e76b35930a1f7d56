// The suite `disk`: the first byte of a disk, boots from it, and how fast it is when it is filled.
import { floor, only, ours, own, rival } from "../comparison.mjs";

/** @typedef {import("../comparison.mjs").Comparison} Comparison */
/** @typedef {import("../comparison.mjs").Method} Method */
/** @typedef {import("../generate.mjs").Section} Section */

/** Returns the suite of a quantity in records. @param {string} quantity */
const of = (quantity) => `disk-node24, ${quantity}`;

const SIZES = ["0.8 GiB", "2 GiB", "4 GiB", "8 GiB", "16 GiB"];
const MAIN = "4 GiB";
const FAST = "90 MB/s, 30 ms";
const SHARED = "60 MB/s shared, 30 ms";

const RESTORE = rival("full restore");

const FIRST = of("first byte");
const FIRST_BYTES = SIZES.map((size) => ({
  ...{ title: size, place: `first byte, ${size}`, suite: FIRST, workload: size },
  methods: [ours(), RESTORE, rival("curl | zstd -d", "curl \\| `zstd -d`")],
}));

const MOUNT = of("mount");
const MOUNTS = [
  ["mounted", "ready"],
  ["files read", "files read"],
].map(([title = "", workload = ""]) => ({
  ...{ title, place: `mount, ${title}`, suite: MOUNT, workload },
  methods: [ours("hedgerow, with a trace"), own("hedgerow, no trace"), RESTORE],
}));

const CACHED = [
  "nothing cached",
  "opened again",
  "base cached, delta fetched",
  "everything cached",
];

/** @type {Section} */
export const DISKS = {
  name: "disks",
  suite: "disk",
  answer: ({ at, range }) => {
    const restore = at(FIRST, "16 GiB").times("full restore");
    const read = at(MOUNT, "files read");
    return `The first byte is there after ${range(SIZES.map((size) => [FIRST, size, "hedgerow"]))},
      for images of 0.8 to 16 GiB, and a full restore of 16 GiB takes ${restore} as long. Mounting an
      image of 4 GiB with a trace and reading files takes ${read.ours}; a full restore, a mount and
      the same reads ${read.times("full restore")} as long.`;
  },
  chart: {
    title: "Until the first byte, by size of the image",
    lines: [`${FAST} to the first byte, Node 24.`],
    axis: "time, ms",
    log: true,
    comparisons: FIRST_BYTES,
  },
  tables: {
    sizes: { what: "first byte, ms", comparisons: FIRST_BYTES },
    mounts: { what: "`hedgerow disk mount`, ms", comparisons: MOUNTS },
    cached: {
      head: ["first byte of 4 GiB", "ms"],
      rows: [
        ...CACHED.map((state) => [state, "first byte, cached", state]),
        ["`hedgerow disk open`, a process", "process", "hedgerow"],
        ["a process of Node alone", "process", "node"],
      ].map(([label = "", quantity = "", method = ""]) => ({
        label,
        keys: [[of(quantity), MAIN, method]],
      })),
    },
  },
  compared: [...FIRST_BYTES, ...MOUNTS],
};

/** Methods of a boot: all but the last are not timed over the slower network. */
const BOOT_METHODS = [
  ours("hedgerow, with a trace"),
  own("hedgerow, no trace"),
  own("hedgerow, another trace", "hedgerow, trace of others"),
  own("hedgerow, on demand"),
  own("hedgerow, trace alone"),
  RESTORE,
  floor("local file", "a local file"),
];
const ON_SHARED = ["hedgerow", "hedgerow, no trace", "full restore"];
const DRAWN = [...ON_SHARED, "hedgerow, on demand", "local file"];

const MILESTONES = [
  ["disk served", "served"],
  ["shell", "shell"],
  ["done", "done"],
];

/** @param {string} network @param {string} where @returns {Comparison[]} */
const bootsOn = (network, where) =>
  MILESTONES.map(([title = "", milestone = ""]) => ({
    ...{ title, place: `${title}, ${where}`, suite: of(`boot, ${milestone}`), workload: network },
    methods: BOOT_METHODS.filter(({ method }) => milestone !== "served" || method !== "local file"),
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
      trace ${done.times("hedgerow, no trace")}, and after a full restore
      ${done.times("full restore")}.`;
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

const SERVERS = [ours(), rival("qemu-nbd", "`qemu-nbd`"), rival("nbdkit", "`nbdkit file`")];

const READS = ["depth 1", "depth 32"].map((depth) => ({
  ...{ title: depth, place: `random reads, ${depth}`, suite: of("random reads"), workload: depth },
  ...{ methods: SERVERS, better: /** @type {const} */ ("more") },
}));

const COPIES = ["nbdcopy", "qemu-img convert"].map((program) => ({
  ...{ title: `\`${program}\``, suite: of("copy"), workload: program, methods: SERVERS },
}));

const FILLS = [
  { title: "fill", suite: of("fill"), workload: FAST, methods: [ours(), RESTORE] },
  {
    ...{ title: "`nbdcopy` during the fill", suite: of("copy while filling"), workload: FAST },
    methods: [ours(), RESTORE],
  },
  {
    ...{ title: "save 20 MB of writes", suite: of("save"), workload: MAIN },
    methods: [ours(), own("full snapshot", "hedgerow, a full snapshot")],
  },
];

/** @type {Section} */
export const FILLED_DISKS = {
  name: "filled disks",
  suite: "disk",
  answer: ({ at }) => {
    const [one, many] = [at(of("random reads"), "depth 1"), at(of("random reads"), "depth 32")];
    const fill = at(of("fill"), FAST);
    return `Of 4 KiB each, ${one.ours} a second are answered at depth 1 and ${many.ours} at depth
      32; \`qemu-nbd\` answers ${one.times("qemu-nbd")} and ${many.times("qemu-nbd")} as many.
      Filling an image of 4 GiB takes ${fill.ours}, and a full restore
      ${fill.times("full restore")} as long.`;
  },
  chart: {
    title: "Random reads of a filled disk over NBD",
    lines: ["4 KiB each, by fio; more is better."],
    axis: "thousand reads a second",
    divide: 1000,
    comparisons: READS,
  },
  tables: {
    reads: { what: "random reads a second", comparisons: READS },
    copies: { what: "copy to nowhere, ms", comparisons: COPIES },
    fills: { what: "ms", comparisons: FILLS },
  },
  compared: [...READS, ...COPIES, ...FILLS],
};
