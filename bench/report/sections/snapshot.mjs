// The suite `snapshot`: the codec and whole images, compared with zstd.
import { ours, own, rival } from "../comparison.mjs";

const FRAME = "snapshot-codec";
const IMAGE = "snapshot-images-node24";
const LARGER = "16 times as large, the same data";
const ONE_WORKER = own("hedgerow, 1 worker");

const FRAMES = [
  {
    title: "decode",
    workload: "decode 1 MiB",
    methods: [
      ...[ours(), rival("C zstd in wasm, nothing else", "C zstd in WebAssembly")],
      rival("Node's own zstd", "Node’s zstd, native"),
      rival("ruzstd in wasm", "`ruzstd` in WebAssembly"),
    ],
  },
  {
    title: "compress, level 3",
    workload: "compress 1 MiB",
    methods: [ours(), rival("Node's own zstd", "Node’s zstd, native")],
  },
  {
    title: "digest",
    workload: "digest of a frame",
    methods: [
      ...[ours(), rival("SHA-256 in wasm", "SHA-256 in WebAssembly")],
      rival("Node's own SHA-256", "Node’s SHA-256, native"),
      rival("XXH3 in wasm", "XXH3 in WebAssembly"),
      rival("XXH64 in wasm", "XXH64 in WebAssembly"),
    ],
  },
].map((one) => ({ ...one, place: `a frame, ${one.title}`, suite: FRAME }));

const IMAGES = [
  {
    title: "create",
    methods: [ours(), ONE_WORKER, rival("zstd -3 -T2", "`zstd -3 -T2`")],
  },
  {
    title: "restore",
    methods: [
      ...[ours(), ONE_WORKER, rival("zstd -d --sparse", "`zstd -d`, its own file")],
      rival("zstd -d --sparse of a snapshot", "`zstd -d`, the snapshot"),
    ],
  },
].map(({ title, methods }) => ({
  ...{ title, place: `whole images, ${title}`, suite: IMAGE, workload: title, methods },
}));

const FILE = {
  title: "MB",
  place: "size of the file",
  suite: "snapshot-size",
  workload: "the file of a snapshot",
  methods: [
    ...[ours(), rival("zstd -3, frames of 1 MiB", "`zstd -3`, each MiB a frame")],
    rival("zstd -3, one frame", "`zstd -3`, one frame"),
  ],
};

/** @param {string} label @param {string} what @param {string} method @returns {import("../tables.mjs").Row} */
const sparse = (label, what, method) => ({
  label,
  keys: [what, `${what}, ${LARGER}`].flatMap((workload) => [
    [IMAGE, workload, method],
    [`${IMAGE}, peak memory`, workload, method],
  ]),
});

/** @type {import("../generate.mjs").Section} */
export const CODEC = {
  name: "codec",
  suite: "snapshot",
  answer: ({ at }) => {
    const [decode, restore] = [at(FRAME, "decode 1 MiB"), at(IMAGE, "restore")];
    return `Decoding a MiB and verifying its digest takes ${decode.ours} in WebAssembly; Node’s
      native zstd takes ${decode.times("Node's own zstd")} as long, without a digest. A whole image
      is restored in ${restore.ours}; \`zstd -d\` takes ${restore.times("zstd -d --sparse")} as
      long.`;
  },
  chart: {
    title: "Create a snapshot and restore it",
    lines: ["Two workers on two cores, in memory, Node 24."],
    axis: "time, ms",
    comparisons: IMAGES,
  },
  tables: {
    frames: { what: "µs a frame of 1 MiB", comparisons: FRAMES },
    images: { what: "ms", comparisons: IMAGES },
    file: { what: "size", comparisons: [FILE] },
    holes: {
      head: ["", "ms", "peak MiB", "ms, 16 × the size", "peak MiB, 16 × the size"],
      rows: [
        sparse("create", "create", "hedgerow"),
        sparse("create, 1 worker", "create", "hedgerow, 1 worker"),
        sparse("create, without `koffi`", "create", "hedgerow, without koffi"),
        sparse("restore", "restore", "hedgerow"),
        sparse("restore, 1 worker", "restore", "hedgerow, 1 worker"),
      ],
    },
  },
  compared: [...FRAMES, ...IMAGES, FILE],
};
