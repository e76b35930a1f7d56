// The suite `fleet`: where sandboxes start, and many hosts that fetch the same snapshot.
import { only, ours, own, rival } from "../comparison.mjs";

/** @typedef {import("../generate.mjs").Section} Section */
/** @typedef {import("../comparison.mjs").Comparison} Comparison */

/** Returns the suite of a quantity in records. @param {string} quantity */
const of = (quantity) => `fleet-node24, ${quantity}`;

const EVEN = "hedgerow, bound 1.05";

const POLICIES = [
  ...[ours(), own(EVEN)],
  ...["random", "least loaded", "best of two", "consistent hashing"].map((name) => rival(name)),
  ...["bounded loads", "rendezvous", "ImageLocality"].map((name) => rival(name)),
];

const WORKLOADS = ["zipf-0.7", "zipf-0.9", "zipf-1.1", "bases", "churn", "deploy", "diurnal"];

const [ZIPF, CROWD] = ["zipf-0.9, 64 hosts", "flash-crowd, 64 hosts"];

/**
 * Returns the comparisons of a quantity, by workload.
 *
 * @param {string} quantity
 * @param {"less" | "more"} [better]
 * @returns {Comparison[]}
 */
const byWorkload = (quantity, better = "less") => [
  ...WORKLOADS.map((name) => ({
    ...{ title: name, suite: of(quantity), workload: `${name}, 64 hosts` },
    ...{ place: `${quantity}, ${name}`, methods: POLICIES, better },
  })),
  {
    ...{ title: "zipf-0.9, 1,000 hosts", suite: of(quantity), workload: "zipf-0.9, 1000 hosts" },
    ...{ place: `${quantity}, 1,000 hosts`, methods: POLICIES, better },
  },
];

const [HITS, LOAD] = [byWorkload("hit rate", "more"), byWorkload("maximum over mean load")];
const [BYTES, MOVED] = [
  byWorkload("bytes from the origin"),
  byWorkload("placements moved without one host"),
];

/** A chart of the workloads of Zipf's law. @param {Comparison[]} comparisons */
const charted = (comparisons) => comparisons.filter(({ title }) => title.startsWith("zipf"));

const LINES = ["64 hosts, or 1,000; 20 sandboxes a host.", "Caches of a fifth of 1,000 images."];

/** @type {Section} */
export const FLEET_HITS = {
  name: "fleet hits",
  suite: "fleet",
  answer: ({ at }) => {
    const [hits, load] = [at(of("hit rate"), ZIPF), at(of("maximum over mean load"), ZIPF)];
    const even = at(of("hit rate"), ZIPF, EVEN);
    const evenLoad = at(of("maximum over mean load"), ZIPF, EVEN);
    return `Of 100,000 starts on 64 hosts, whose images follow Zipf’s law with an exponent of 0.9,
      ${hits.ours} are hits, and the busiest host has ${load.ours} the mean load. Random placement has
      ${hits.times("random")} as many hits. Consistent hashing has ${hits.times("consistent hashing")} as
      many, and ${load.times("consistent hashing")} the load on its busiest host. With a bound of 1.05,
      ${even.ours} are hits at ${evenLoad.ours} the mean load, where ImageLocality of Kubernetes has
      ${even.times("ImageLocality")} as many at ${evenLoad.times("ImageLocality")} that load.`;
  },
  chart: {
    title: "Starts that find their image",
    lines: [...LINES, "More is better."],
    axis: "starts that are hits, %",
    comparisons: charted(HITS),
  },
  tables: { rate: { what: "% hits", comparisons: HITS } },
  compared: HITS,
};

/** @type {Section} */
export const FLEET_LOAD = {
  name: "fleet load",
  suite: "fleet",
  answer: ({ at }) => {
    const load = at(of("maximum over mean load"), ZIPF);
    return `The busiest of 64 hosts has ${load.ours} the mean load, on average over time; with consistent
      hashing and bounded loads ${load.times("bounded loads")} that, and by rendezvous hashing alone
      ${load.times("rendezvous")}.`;
  },
  chart: {
    title: "Load of the busiest host",
    lines: LINES,
    axis: "busiest host, × the mean",
    log: true,
    comparisons: charted(LOAD),
  },
  tables: { load: { what: "× the mean", comparisons: LOAD } },
  compared: LOAD,
};

/** @type {Section} */
export const FLEET_BYTES = {
  name: "fleet bytes",
  suite: "fleet",
  answer: ({ at }) => {
    const bytes = at(of("bytes from the origin"), ZIPF);
    const fetches = at(of("fetches of one image by a flash crowd"), CROWD);
    const worst = at(of("worst start of a flash crowd"), CROWD);
    return `100,000 starts on 64 hosts fetch ${bytes.ours} from the store, and ${bytes.times("random")} as
      much with random placement. A flash crowd of 1,000 starts of one cold image causes
      ${fetches.ours}, and the slowest of them takes ${worst.ours} the time of one start alone.`;
  },
  chart: {
    title: "Bytes from the store",
    lines: LINES,
    axis: "GB",
    log: true,
    comparisons: charted(BYTES),
  },
  tables: {
    bytes: { what: "GB", comparisons: BYTES },
    crowd: {
      head: ["flash crowd of 1,000 starts", "hedgerow, 64 hosts", "hedgerow, 1,000 hosts"],
      rows: [
        ["fetches from the store", "fetches of one image by a flash crowd"],
        ["slowest start over one alone", "worst start of a flash crowd"],
      ].map(([label = "", quantity = ""]) => ({
        label,
        keys: ["64", "1000"].map((hosts) => [
          of(quantity),
          `flash-crowd, ${hosts} hosts`,
          "hedgerow",
        ]),
      })),
    },
  },
  compared: BYTES,
};

/** @type {Section} */
export const FLEET_MOVES = {
  name: "fleet moves",
  suite: "fleet",
  answer: ({ at }) => {
    const moved = at(of("placements moved without one host"), ZIPF);
    return `If one of 64 hosts is missing and all else is equal, ${moved.ours} of the placements change: those
      that were on this host.`;
  },
  chart: {
    title: "Placements that change without one host",
    lines: LINES,
    axis: "placements that change, %",
    comparisons: charted(MOVED),
  },
  tables: { moved: { what: "%", comparisons: MOVED } },
  compared: MOVED,
};

const HERD = "20 hosts at once";
const [COLD, WARM] = ["through nginx, cold", "through nginx, warm"];
const DIRECT = rival("directly from the store");

/** Returns the comparisons of a quantity of one and of twenty hosts. @param {string} quantity */
const tier = (quantity) =>
  ["1 host", HERD].map((workload) => ({
    ...{ title: workload, suite: of(quantity), workload, place: `${quantity}, ${workload}` },
    methods: [ours("hedgerow, nginx cold", COLD), own(WARM, "hedgerow, nginx warm"), DIRECT],
  }));

const [SENT, SLOWEST] = [tier("bytes from the store over one snapshot"), tier("slowest host")];

const DECISION = {
  ...{ title: "1,000 hosts", suite: of("decision"), workload: "1000 hosts" },
  // The others draw one or two hosts, whatever the image and the fleet.
  methods: POLICIES.filter(({ method }) => !["random", "best of two"].includes(method)),
  place: "a decision",
};

/** @type {Section} */
export const FLEET_TIER = {
  name: "fleet tier",
  suite: "fleet",
  answer: ({ at }) => {
    const sent = at(of("bytes from the store over one snapshot"), HERD, COLD);
    const decision = at(of("decision"), "1000 hosts");
    const memory = at(of("memory"), "different images");
    return `When 20 hosts restore the same snapshot at once through nginx, the store sends
      ${sent.ours} its bytes; without nginx, ${sent.times("directly from the store")} that. A placement
      on 1,000 hosts takes ${decision.ours}. A placer of 1,000 hosts with 1,000 images each keeps
      ${memory.ours}, and reads all of them in ${at(of("resync"), "different images").ours}.`;
  },
  chart: {
    title: "20 hosts restore one snapshot at once",
    lines: ["256 MB of data, 90 MB/s a connection, 30 ms."],
    axis: "bytes from the store, × one snapshot",
    comparisons: SENT.map((one) => only(one, [COLD, WARM, "directly from the store"])),
  },
  tables: {
    sent: { what: "bytes from the store, × one snapshot", comparisons: SENT },
    slowest: { what: "slowest host, ms", comparisons: SLOWEST },
    decision: { what: "a decision, µs", comparisons: [DECISION] },
    residency: {
      head: ["1,000 hosts × 1,000 images", "the same images", "different images"],
      rows: [
        ["memory that it keeps, MB", "memory"],
        ["peak of the whole process, MB", "process"],
        ["time to read all hosts, s", "resync"],
      ].map(([label = "", quantity = ""]) => ({
        label,
        keys: ["the same images", "different images"].map(
          (workload) => /** @type {const} */ ([of(quantity), workload, "hedgerow"]),
        ),
      })),
    },
  },
  compared: [...SENT, ...SLOWEST, DECISION],
};
