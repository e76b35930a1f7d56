// The codec of snapshots, and whole images, beside zstd.
import { ours, own, rival } from "../comparison.mjs";

const FRAMES = [
  {
    title: "decode",
    workload: "decode 1 MiB",
    methods: [
      ours("hedgerow, with digest"),
      rival("C zstd in wasm, nothing else", "C zstd in WebAssembly"),
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
      ours("hedgerow, BLAKE3"),
      rival("SHA-256 in wasm", "SHA-256 in WebAssembly"),
      rival("Node's own SHA-256", "SHA-256 of Node, native"),
      rival("XXH3 in wasm", "XXH3 in WebAssembly"),
      rival("XXH64 in wasm", "XXH64 in WebAssembly"),
    ],
  },
].map((one) => ({ ...one, place: `a frame, ${one.title}`, suite: "snapshot-codec" }));

const IMAGES = [
  {
    title: "create",
    workload: "create",
    methods: [ours(), own("hedgerow, 1 worker"), rival("zstd -3 -T2", "`zstd -3 -T2`")],
  },
  {
    title: "restore",
    workload: "restore",
    methods: [
      ours(),
      own("hedgerow, 1 worker"),
      rival("zstd -d --sparse", "`zstd -d`, its own file"),
      rival("zstd -d --sparse of a snapshot", "`zstd -d`, the snapshot"),
    ],
  },
].map((one) => ({ ...one, place: `whole images, ${one.title}`, suite: "snapshot-images-node24" }));

const FILE = [
  {
    title: "MB",
    place: "size of the file",
    suite: "snapshot-size",
    workload: "the file of a snapshot",
    methods: [
      ours(),
      rival("zstd -3, frames of 1 MiB", "`zstd -3`, each MiB a frame"),
      rival("zstd -3, one frame", "`zstd -3`, one frame"),
    ],
  },
];

const IMAGE = "snapshot-images-node24";
const LARGER = "16 times as large, the same data";

/** @param {string} says @param {string} what @param {string} method */
const sparse = (says, what, method) => ({
  says,
  keys: [what, `${what}, ${LARGER}`].flatMap((workload) =>
    [IMAGE, `${IMAGE}, peak memory`].map(
      (suite) => /** @type {[string, string, string]} */ ([suite, workload, method]),
    ),
  ),
});

/** @returns {import("../made.mjs").Section} */
export function codec() {
  const frames = FRAMES.map((one) => [
    one.title,
    { what: one.title, comparisons: [{ ...one, title: "µs a MiB" }] },
  ]);
  const images = IMAGES.map((one) => [
    one.title,
    { what: one.title, comparisons: [{ ...one, title: "ms" }] },
  ]);
  return {
    name: "codec",
    suite: "snapshot",
    tables: {
      ...Object.fromEntries([...frames, ...images]),
      file: { what: "file", comparisons: FILE },
    },
    given: {
      holes: {
        head: ["", "ms", "MiB", "ms, 16 × holes", "MiB, 16 × holes"],
        rows: [
          sparse("create", "create", "hedgerow"),
          sparse("create, 1 worker", "create", "hedgerow, 1 worker"),
          sparse("create, without `koffi`", "create", "hedgerow, without koffi"),
          sparse("restore", "restore", "hedgerow"),
          sparse("restore, 1 worker", "restore", "hedgerow, 1 worker"),
        ],
      },
    },
    bars: {
      "codec-frames": {
        title: "Decode and compress a MiB, one thread",
        lines: ["Frames of all over an ext4 image, Node 24."],
        axis: "time of a MiB, µs",
        comparisons: FRAMES.slice(0, 2),
      },
      "codec-images": {
        title: "Snapshot and restore a whole image",
        lines: ["Two workers on two cores, in memory, Node 24."],
        axis: "time, ms",
        comparisons: IMAGES,
      },
    },
    compared: [...FRAMES, ...IMAGES, ...FILE],
  };
}
