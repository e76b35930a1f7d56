// The suite `restore`: restoring an image from a server, with other tools and with other settings.
import { only, ours, own, rival } from "../comparison.mjs";

/** @typedef {import("../comparison.mjs").Comparison} Comparison */
/** @typedef {import("../figures.mjs").Figures} Figures */
/** @typedef {import("../generate.mjs").Section} Section */

const SUITE = "snapshot-restore-node20";
const NODE_24 = "hedgerow, Node 24";

const LOOPBACK = "loopback";
const FAST = "90 MB/s, 30 ms";
const NETWORKS = [LOOPBACK, FAST, "50 MB/s, 30 ms, 1 % cut"];

const RIVALS = [
  rival("curl, then zstd -d", "curl, then `zstd -d`"),
  rival("curl, then zstd -d, .vhs", "curl, then `zstd -d`, .vhs"),
  rival("aria2c -x 16, then zstd -d", "aria2c -x 16, then `zstd -d`"),
  rival("curl | zstd -d", "curl \\| `zstd -d`"),
  rival("curl | zstd -d, .vhs", "curl \\| `zstd -d`, .vhs"),
  rival("desync -n 16"),
  rival("desync -n 64, quick retries"),
  rival("fetch, zlib, Node 24", "fetch, `node:zlib`"),
  rival("fetch, zlib, holes, Node 24", "fetch, `node:zlib`, holes"),
];
const METHODS = [ours(NODE_24, NODE_24), own("hedgerow", "hedgerow, Node 20"), ...RIVALS];

const DRAWN = [
  ...[NODE_24, "curl, then zstd -d", "curl | zstd -d"],
  ...["desync -n 64, quick retries", "fetch, zlib, holes, Node 24"],
];

/** The table omits the alternatives that read the .vhs file, which takes them a little longer than their own file. */
const TABLED = METHODS.map(({ method }) => method).filter((method) => !method.endsWith(".vhs"));

const COMPARED = NETWORKS.map((network) => ({
  ...{ title: network, suite: SUITE, workload: network, methods: METHODS },
}));

/** @param {string} label @param {string} what @param {string} [method] @returns {import("../tables.mjs").Row} */
const row = (label, what, method = NODE_24) => ({
  label,
  keys: NETWORKS.map((network) => [`${SUITE}, ${what}`, network, method]),
});

/** @type {Section} */
export const RESTORING = {
  name: "restoring",
  suite: "restore",
  answer: ({ at }) => {
    const [fast, loopback] = [at(SUITE, FAST, NODE_24), at(SUITE, LOOPBACK, NODE_24)];
    return `An image of 4 GiB is restored in ${fast.ours} over connections of 90 MB/s, where
      \`curl | zstd -d\` takes ${fast.times("curl | zstd -d")} as long, and a download over 16 connections,
      then \`zstd -d\`, ${fast.times("aria2c -x 16, then zstd -d")}; on loopback it takes
      ${loopback.ours}, and \`curl | zstd -d\` ${loopback.times("curl | zstd -d")} as long.`;
  },
  chart: {
    title: "Restore an image from a server",
    lines: ["Two cores, which the server shares."],
    axis: "time, s",
    divide: 1000,
    comparisons: COMPARED.map((one) => only(one, DRAWN)),
  },
  tables: {
    networks: { what: "ms", comparisons: COMPARED.map((one) => only(one, TABLED)) },
    floors: {
      head: ["Node 20, ms", ...NETWORKS],
      rows: [
        row("fetch, all connections", "least", "fetch"),
        row("decode, over 2 threads", "least", "decode, over 2 threads"),
        row("write, 1 thread", "least", "write, 1 thread"),
        row("hedgerow / slowest step, ×", "time over the least", "hedgerow"),
      ],
    },
    resources: {
      head: ["Node 24", ...NETWORKS],
      rows: [
        row("bytes sent / bytes needed", "bytes sent over needed"),
        row("requests", "requests"),
        row("requests of desync -n 64", "requests", "desync -n 64, quick retries"),
        row("retried requests", "retries"),
        row("hedged requests", "hedged"),
        row("peak memory, MiB", "peak memory"),
        row("peak memory on Node 20, MiB", "peak memory", "hedgerow"),
        row("processor time, ms", "processor time"),
        row("processor time of the server, ms", "processor time of the server"),
      ],
    },
  },
  compared: COMPARED,
};

const CONNECTIONS = [1, 2, 4, 8, 16, 32, 64];
const PARTS = [1, 2, 4, 8, 16, 32, 64];

const IMAGES = [
  ...["a quarter of the size", "half the size", "hedgerow", "twice the size"],
  "4 times the size, the same data",
];

/** @param {Figures} figures @returns {Section} */
export function settings(figures) {
  /** @type {Comparison[]} */
  const workers = [LOOPBACK, FAST].map((network) => ({
    title: network,
    place: `two workers, ${network}`,
    suite: SUITE,
    workload: `${network}: workers`,
    methods: [
      ...[ours("hedgerow, 2 workers"), own("1 worker", "hedgerow, 1 worker")],
      ...fastestRival(figures, network),
    ],
  }));
  const connections = [LOOPBACK, FAST].map((network) => ({
    title: network,
    suite: SUITE,
    workload: `${network}: connections`,
    methods: [
      ours("hedgerow, automatic"),
      ...CONNECTIONS.map((count) => own(`${count} connection${count > 1 ? "s" : ""}`)),
    ],
  }));
  const parts = {
    title: "part size",
    suite: SUITE,
    workload: `${FAST}: part size`,
    methods: [ours("hedgerow, default"), ...PARTS.map((size) => own(`${size} MiB`))],
  };
  return {
    name: "settings",
    suite: "restore",
    answer: ({ at }) => {
      const over = (/** @type {string} */ what, /** @type {string} */ method) =>
        at(SUITE, `${FAST}: ${what}`).times(method);
      return `At 90 MB/s a connection, the defaults restore the image in
        ${at(SUITE, `${FAST}: workers`).ours}; one worker takes ${over("workers", "1 worker")} as
        long, one connection ${over("connections", "1 connection")}, and parts of 1 MiB
        ${over("part size", "1 MiB")}.`;
    },
    chart: {
      title: "Restore with other settings",
      lines: [`${FAST} a connection, two cores, Node 20.`],
      axis: "time, s",
      divide: 1000,
      comparisons: [
        ...workers.slice(1).map((one) => ({ ...one, title: "workers" })),
        ...connections.slice(1).map((one) => ({ ...one, title: "connections" })),
        parts,
      ],
    },
    tables: {
      workers: { what: "ms", comparisons: workers },
      connections: { what: "ms", comparisons: connections },
      parts: {
        head: ["part size, MiB", ...PARTS.map(String)],
        rows: [
          {
            label: `${FAST}, ms`,
            keys: PARTS.map((size) => [SUITE, parts.workload, `${size} MiB`]),
          },
        ],
      },
      images: {
        head: ["image", `${LOOPBACK}, ms`, `${FAST}, ms`, "peak memory, MiB"],
        rows: IMAGES.map((size) => ({
          label: size === "hedgerow" ? "the image" : size,
          keys: [
            [SUITE, `${LOOPBACK}: size of the image`, size],
            [SUITE, `${FAST}: size of the image`, size],
            [`${SUITE}, peak memory`, `${LOOPBACK}: size of the image`, size],
          ],
        })),
      },
    },
    compared: workers,
  };
}

/**
 * The fastest of the other tools on a network, if any is in the record.
 *
 * @param {Figures} figures
 * @param {string} network
 */
function fastestRival({ find }, network) {
  const median = (/** @type {import("../comparison.mjs").Method} */ { method }) =>
    find(SUITE, network, method)?.median ?? Number.POSITIVE_INFINITY;
  const [fastest] = RIVALS.toSorted((a, b) => median(a) - median(b));
  return fastest === undefined ? [] : [{ ...fastest, workload: network }];
}
