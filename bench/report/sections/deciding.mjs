// How the time of a restore depends on workers, connections, the size of parts and the image.
import { ours, own, rival } from "../comparison.mjs";
import { NETWORKS, RIVALS, SUITE } from "./restoring.mjs";

/** @typedef {import("../figures.mjs").Figures} Figures */
/** @typedef {import("../comparison.mjs").Comparison} Comparison */

const [LOOPBACK = "", FAST = ""] = NETWORKS;
const CONNECTIONS = [1, 2, 4, 8, 16, 32, 64];
const PARTS = [1, 2, 4, 8, 16, 32, 64];
const SIZES = [
  "a quarter of the size",
  "half the size",
  "hedgerow",
  "twice the size",
  "4 times the size, the same data",
];

/** @param {number} count */
const connectionsOf = (count) => `${count} connection${count > 1 ? "s" : ""}`;

/** @returns {import("../generate.mjs").Section} */
export function deciding(/** @type {Figures} */ figures) {
  /** @type {Comparison[]} */
  const workers = [LOOPBACK, FAST].map((network) => ({
    title: network,
    place: `two workers, ${network}`,
    suite: SUITE,
    workload: `${network}: workers`,
    methods: [
      ours("hedgerow, 2 workers"),
      own("1 worker", "hedgerow, 1 worker"),
      ...fastestRival(figures, network),
    ],
  }));
  /** @type {Comparison[]} */
  const connections = [LOOPBACK, FAST].map((network) => ({
    title: network,
    suite: SUITE,
    workload: `${network}: connections`,
    methods: [
      ours("hedgerow, automatic"),
      ...CONNECTIONS.map((count) => own(connectionsOf(count))),
    ],
  }));
  return {
    name: "deciding",
    suite: "restore",
    answer: ({ value, times }) => {
      const over = (/** @type {string} */ what, /** @type {string} */ method) =>
        times([SUITE, `${FAST}: ${what}`, "hedgerow"], [SUITE, `${FAST}: ${what}`, method]);
      return [
        "At 90 MB/s a connection, the defaults restore the image in",
        `${value(SUITE, `${FAST}: workers`, "hedgerow")}; one worker takes`,
        `${over("workers", "1 worker")} as long, one connection`,
        `${over("connections", "1 connection")}, and parts of 1 MiB`,
        `${over("part size", "1 MiB")}.`,
      ].join(" ");
    },
    tables: {
      workers: { what: "ms", comparisons: workers },
      connections: { what: "ms", comparisons: connections },
    },
    plainTables: {
      parts: {
        head: ["parts of, MiB", ...PARTS.map(String)],
        rows: [
          {
            label: `${FAST}, ms`,
            keys: PARTS.map((size) => [SUITE, `${FAST}: part size`, `${size} MiB`]),
          },
        ],
      },
      images: {
        head: ["image", `${LOOPBACK}, ms`, `${FAST}, ms`, "peak memory, MiB"],
        rows: SIZES.map((size) => ({
          label: size === "hedgerow" ? "the image" : size,
          keys: [
            [SUITE, `${LOOPBACK}: size of the image`, size],
            [SUITE, `${FAST}: size of the image`, size],
            [`${SUITE}, peak memory`, `${LOOPBACK}: size of the image`, size],
          ],
        })),
      },
    },
    charts: {
      deciding: {
        title: "Restore with other settings",
        lines: [`${FAST} a connection, two cores, Node 20.`],
        axis: "time, s",
        divide: 1000,
        comparisons: [
          ...workers.slice(1).map((one) => ({ ...one, title: "workers" })),
          ...connections.slice(1).map((one) => ({ ...one, title: "connections" })),
          {
            title: "part size",
            suite: SUITE,
            workload: `${FAST}: part size`,
            methods: [ours("hedgerow, default"), ...PARTS.map((size) => own(`${size} MiB`))],
          },
        ],
      },
    },
    compared: workers,
  };
}

/** The fastest of the other tools on a network, if any is in the record. @param {Figures} figures @param {string} network */
function fastestRival(figures, network) {
  const found = RIVALS.flatMap(({ method, label }) => {
    const result = figures.find(SUITE, network, method);
    return result === undefined ? [] : [{ method, label, median: result.median }];
  });
  const [fastest] = found.toSorted((a, b) => a.median - b.median);
  if (fastest === undefined) return [];
  return [{ ...rival(fastest.method, fastest.label), workload: network }];
}
