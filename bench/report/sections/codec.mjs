// The codec of snapshots and whole images, compared with zstd.
import { ours, own, rival } from "../comparison.mjs";

const FRAMES = [
  {
    title: "decode",
    workload: "decode 1 MiB",
    methods: [
      ours(),
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
      ours(),
      rival("SHA-256 in wasm", "SHA-256 in WebAssembly"),
      rival("Node's own SHA-256", "Node’s SHA-256, native"),
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

/** @param {string} label @param {string} what @param {string} method */
const sparse = (label, what, method) => ({
  label,
  keys: [what, `${what}, ${LARGER}`].flatMap((workload) =>
    [IMAGE, `${IMAGE}, peak memory`].map(
      (suite) => /** @type {[string, string, string]} */ ([suite, workload, method]),
    ),
  ),
});

/** @returns {import("../generate.mjs").Section} */
export function codec() {
  return {
    name: "codec",
    suite: "snapshot",
    answer: ({ value, times }) => {
      const decode = /** @type {const} */ (["snapshot-codec", "decode 1 MiB"]);
      const restore = /** @type {const} */ ([IMAGE, "restore"]);
      return [
        `Decoding a MiB takes ${value(...decode, "hedgerow")} in WebAssembly, digest included,`,
        "and Node’s native zstd takes",
        `${times([...decode, "hedgerow"], [...decode, "Node's own zstd"])} as long without one;`,
        `a whole image is restored in ${value(...restore, "hedgerow")}, and \`zstd -d\` takes`,
        `${times([...restore, "hedgerow"], [...restore, "zstd -d --sparse"])} as long.`,
      ].join(" ");
    },
    tables: {
      frames: { what: "µs a MiB", comparisons: FRAMES },
      images: { what: "ms", comparisons: IMAGES },
      file: { what: "size", comparisons: FILE },
    },
    plainTables: {
      holes: {
        head: ["", "ms", "peak MiB", "ms, 16 × size", "peak MiB, 16 × size"],
        rows: [
          sparse("create", "create", "hedgerow"),
          sparse("create, 1 worker", "create", "hedgerow, 1 worker"),
          sparse("create, without `koffi`", "create", "hedgerow, without koffi"),
          sparse("restore", "restore", "hedgerow"),
          sparse("restore, 1 worker", "restore", "hedgerow, 1 worker"),
        ],
      },
    },
    charts: {
      "codec-frames": {
        title: "Decode and compress 1 MiB, one thread",
        lines: ["Frames of an ext4 image, Node 24."],
        axis: "time of a MiB, µs",
        comparisons: FRAMES.slice(0, 2),
      },
      "codec-images": {
        title: "Create a snapshot and restore it",
        lines: ["Two workers on two cores, in memory, Node 24."],
        axis: "time, ms",
        comparisons: IMAGES,
      },
    },
    compared: [...FRAMES, ...IMAGES, ...FILE],
  };
}
