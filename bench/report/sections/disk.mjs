// The suite `disk`: the first byte of a disk, and how fast it is when it is filled.
import { ours, own, rival } from "../comparison.mjs";

/** @typedef {import("../generate.mjs").Section} Section */

/** Returns the suite of a quantity in records. @param {string} quantity */
const of = (quantity) => `disk-node24, ${quantity}`;

const SIZES = ["0.8 GiB", "2 GiB", "4 GiB", "8 GiB", "16 GiB"];
const MAIN = "4 GiB";
const FAST = "90 MB/s, 30 ms";

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
  methods: [
    ours("hedgerow, with a trace"),
    own("hedgerow, no trace"),
    RESTORE,
    rival("nbdkit curl", "`nbdkit curl`"),
  ],
}));

const CACHED = [
  "nothing cached",
  "nothing cached, a block in the middle",
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
  ...[
    ["`nbdcopy` during the fill", FAST],
    ["the same, 60 MB/s shared", "60 MB/s shared, 30 ms"],
  ].map(([title = "", workload = ""]) => ({
    ...{ title, place: `\`nbdcopy\` during the fill, ${workload}` },
    ...{ suite: of("copy while filling"), workload, methods: [ours(), RESTORE] },
  })),
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
