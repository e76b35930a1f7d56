// How long it takes to restore an image from a server, by method and network.
import { ours, own, rival } from "../comparison.mjs";

export const SUITE = "snapshot-restore-node20";

export const NETWORKS = ["loopback", "90 MB/s, 30 ms", "50 MB/s, 30 ms, 1 % cut"];

/** What others restore the image with. */
export const RIVALS = [
  rival("curl, then zstd -d", "curl, then `zstd -d`"),
  rival("curl, then zstd -d, .vhs", "the same of the .vhs"),
  rival("curl | zstd -d", "curl \\| `zstd -d`"),
  rival("curl | zstd -d, .vhs", "this of the .vhs"),
  rival("desync -n 16", "desync -n 16"),
  rival("desync -n 64, quick retries", "desync -n 64, quick retries"),
  rival("fetch, zlib, Node 24", "fetch, zlib"),
  rival("fetch, zlib, holes, Node 24", "fetch, zlib, holes"),
];

const METHODS = [
  ours("hedgerow, Node 24", "hedgerow, Node 24"),
  own("hedgerow", "hedgerow, Node 20"),
  ...RIVALS,
];

const DRAWN = [0, 2, 4, 7, 9].map((index) => METHODS[index]?.method);

const COMPARED = NETWORKS.map((network) => ({
  title: network,
  suite: SUITE,
  workload: network,
  methods: METHODS,
}));

/** @param {string} says @param {string} suite @param {string} method */
const row = (says, suite, method) => ({
  says,
  keys: NETWORKS.map(
    (network) => /** @type {[string, string, string]} */ ([SUITE + suite, network, method]),
  ),
});

/** @returns {import("../made.mjs").Section} */
export function restoring() {
  return {
    name: "restoring",
    suite: "restore",
    tables: { networks: { what: "ms", comparisons: COMPARED } },
    given: {
      least: {
        head: ["Node 20, ms", ...NETWORKS],
        rows: [
          row("fetch, all connections", ", least", "fetch"),
          row("decode, over 2 threads", ", least", "decode, over 2 threads"),
          row("write, 1 thread", ", least", "write, 1 thread"),
          row("the slowest of these", ", least", "the slowest of these"),
          row("hedgerow over that, ×", ", time over the least", "hedgerow"),
        ],
      },
      takes: {
        head: ["Node 24", ...NETWORKS],
        rows: [
          row("bytes sent over needed, ×", ", bytes sent over needed", "hedgerow, Node 24"),
          row("requests", ", requests", "hedgerow, Node 24"),
          row("requests of desync -n 64", ", requests", "desync -n 64, quick retries"),
          row("asked for again", ", retries", "hedgerow, Node 24"),
          row("asked for a second time", ", hedged", "hedgerow, Node 24"),
          row("peak memory, MiB", ", peak memory", "hedgerow, Node 24"),
          row("peak memory on Node 20, MiB", ", peak memory", "hedgerow"),
          row("processor time, ms", ", processor time", "hedgerow, Node 24"),
          row(
            "processor time of the server, ms",
            ", processor time of the server",
            "hedgerow, Node 24",
          ),
        ],
      },
    },
    bars: {
      "restoring-networks": {
        title: "Restore an image from a server",
        lines: ["Two cores, which the server shares."],
        axis: "time, s",
        divide: 1000,
        comparisons: COMPARED.map((one) => ({
          ...one,
          methods: METHODS.filter(({ method }) => DRAWN.includes(method)),
        })),
      },
    },
    compared: COMPARED,
  };
}
