// How long it takes to restore an image from a server, by tool and network.
import { only, ours, own, rival } from "../comparison.mjs";

export const SUITE = "snapshot-restore-node20";

export const NETWORKS = ["loopback", "90 MB/s, 30 ms", "50 MB/s, 30 ms, 1 % cut"];

/** The other tools. */
export const RIVALS = [
  rival("curl, then zstd -d", "curl, then `zstd -d`"),
  rival("curl, then zstd -d, .vhs", "curl, then `zstd -d`, .vhs"),
  rival("curl | zstd -d", "curl \\| `zstd -d`"),
  rival("curl | zstd -d, .vhs", "curl \\| `zstd -d`, .vhs"),
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

const DRAWN = [
  ...["hedgerow, Node 24", "curl, then zstd -d", "curl | zstd -d"],
  ...["desync -n 64, quick retries", "fetch, zlib, holes, Node 24"],
];

/** Tables leave out the other tools with the .vhs file: it takes them a little longer than a file of their own. */
const SHOWN = METHODS.map(({ method }) => method).filter((method) => !method.endsWith(".vhs"));

const COMPARED = NETWORKS.map((network) => ({
  title: network,
  suite: SUITE,
  workload: network,
  methods: METHODS,
}));

/** @param {string} label @param {string} what @param {string} method */
const row = (label, what, method) => ({
  label,
  keys: NETWORKS.map(
    (network) => /** @type {[string, string, string]} */ ([`${SUITE}, ${what}`, network, method]),
  ),
});

/** @returns {import("../generate.mjs").Section} */
export function restoring() {
  return {
    name: "restoring",
    suite: "restore",
    answer: ({ value, times }) => {
      const at = (/** @type {string} */ network) => value(SUITE, network, "hedgerow, Node 24");
      const over = (/** @type {string} */ network) =>
        times([SUITE, network, "hedgerow, Node 24"], [SUITE, network, "curl | zstd -d"]);
      const [loopback = "", fast = ""] = NETWORKS;
      return [
        `An image of 4 GiB is restored in ${at(fast)} over connections of 90 MB/s, where \`curl`,
        `| zstd -d\` takes ${over(fast)} as long; on loopback it takes ${at(loopback)}, and`,
        `\`curl | zstd -d\` ${over(loopback)} as long.`,
      ].join(" ");
    },
    tables: { networks: { what: "ms", comparisons: COMPARED.map((one) => only(one, SHOWN)) } },
    plainTables: {
      "lower bound": {
        head: ["Node 20, ms", ...NETWORKS],
        rows: [
          row("fetch, all connections", "least", "fetch"),
          row("decode, over 2 threads", "least", "decode, over 2 threads"),
          row("write, 1 thread", "least", "write, 1 thread"),
          row("hedgerow over the slowest, ×", "time over the least", "hedgerow"),
        ],
      },
      resources: {
        head: ["Node 24", ...NETWORKS],
        rows: [
          row("bytes sent over needed, ×", "bytes sent over needed", "hedgerow, Node 24"),
          row("requests", "requests", "hedgerow, Node 24"),
          row("requests of desync -n 64", "requests", "desync -n 64, quick retries"),
          row("retried requests", "retries", "hedgerow, Node 24"),
          row("hedged requests", "hedged", "hedgerow, Node 24"),
          row("peak memory, MiB", "peak memory", "hedgerow, Node 24"),
          row("peak memory on Node 20, MiB", "peak memory", "hedgerow"),
          row("processor time, ms", "processor time", "hedgerow, Node 24"),
          row(
            "processor time of the server, ms",
            "processor time of the server",
            "hedgerow, Node 24",
          ),
        ],
      },
    },
    charts: {
      "restoring-networks": {
        title: "Restore an image from a server",
        lines: ["Two cores, which the server shares."],
        axis: "time, s",
        divide: 1000,
        comparisons: COMPARED.map((one) => only(one, DRAWN)),
      },
    },
    compared: COMPARED,
  };
}
