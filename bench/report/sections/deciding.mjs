// What restoring depends on: workers, connections, and the size of parts.
import { ours, own, rival } from "../comparison.mjs";
import { plain } from "../say.mjs";
import { NETWORKS, RIVALS, SUITE } from "./restoring.mjs";

/** @typedef {import("../figures.mjs").Figures} Figures */
/** @typedef {import("../comparison.mjs").Method} Method */

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

/** @returns {import("../made.mjs").Section} */
export function deciding(/** @type {Figures} */ figures) {
  const workers = [LOOPBACK, FAST].map((network) => ({
    title: network,
    place: `two workers, ${network}`,
    suite: SUITE,
    workload: `${network}: workers`,
    methods: [
      ours("hedgerow, 2 workers"),
      own("1 worker", "hedgerow, 1 worker"),
      ...best(figures, network).map(({ rival }) => rival),
    ],
  }));
  const connections = CONNECTIONS.map((at) =>
    point(FAST, "connections", at, `${at} connection${at > 1 ? "s" : ""}`),
  );
  const parts = PARTS.map((at) => point(FAST, "part size", at, `${at} MiB`));
  const beside = best(figures, FAST).map(({ says, value }) => ({ says, value }));
  return {
    name: "deciding",
    suite: "restore",
    tables: { workers: { what: "ms", comparisons: workers } },
    given: {
      connections: {
        head: ["connections, ms", LOOPBACK, FAST],
        rows: [
          ...CONNECTIONS.map((count) =>
            row("connections", `${count}`, `${count} connection${count > 1 ? "s" : ""}`),
          ),
          row("connections", "by itself", "hedgerow"),
        ],
      },
      parts: {
        head: ["parts, ms", FAST],
        rows: PARTS.map((size) => ({
          says: `${size} MiB`,
          keys: [[SUITE, `${FAST}: part size`, `${size} MiB`]],
        })),
      },
      images: {
        head: ["image", `${LOOPBACK}, ms`, `${FAST}, ms`, "peak memory, MiB"],
        rows: SIZES.map((size) => ({
          says: size === "hedgerow" ? "the image" : size,
          keys: [
            [SUITE, `${LOOPBACK}: size of the image`, size],
            [SUITE, `${FAST}: size of the image`, size],
            [`${SUITE}, peak memory`, `${LOOPBACK}: size of the image`, size],
          ],
        })),
      },
    },
    bars: {
      "deciding-workers": {
        title: "Restore with one worker or two",
        lines: ["Two cores, which the server shares, Node 20."],
        axis: "time, s",
        divide: 1000,
        comparisons: workers,
      },
    },
    lines: {
      "deciding-connections": {
        title: "Restore over more connections",
        lines: [`${FAST} a connection, Node 20.`],
        axes: ["connections (logarithmic)", "time, s"],
        log: false,
        divide: 1000,
        points: connections,
        beside,
      },
      "deciding-parts": {
        title: "Restore in parts of other sizes",
        lines: [`${FAST} a connection, Node 20.`],
        axes: ["size of a part (logarithmic)", "time, s"],
        log: false,
        divide: 1000,
        points: parts,
        beside,
      },
    },
    compared: workers,
  };
}

/** @param {string} what @param {string} says @param {string} method */
function row(what, says, method) {
  const keys = [LOOPBACK, FAST].map(
    (network) => /** @type {[string, string, string]} */ ([SUITE, `${network}: ${what}`, method]),
  );
  return { says, keys };
}

/** @param {string} network @param {string} what @param {number} at @param {string} method */
function point(network, what, at, method) {
  const workload = `${network}: ${what}`;
  return {
    at,
    title: what === "part size" ? `${at} MiB` : `${at}`,
    suite: SUITE,
    workload,
    methods: [ours("hedgerow", method)],
  };
}

/** The fastest of the others on a network; none where there are none. @param {Figures} figures @param {string} network */
function best(figures, network) {
  const found = RIVALS.flatMap(({ method, says }) => {
    const result = figures.find(SUITE, network, method);
    return result === undefined ? [] : [{ method, says, value: result.median }];
  });
  const fastest = found.toSorted((a, b) => a.value - b.value)[0];
  if (fastest === undefined) return [];
  const says = `best rival: ${plain(fastest.says)}`;
  const named = { ...rival(fastest.method, `best rival: ${fastest.says}`), workload: network };
  return [{ rival: named, says, value: fastest.value }];
}
