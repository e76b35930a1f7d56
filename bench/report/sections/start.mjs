// How long the first use of a process takes, import and compilation included.
import { floor, ours, own, rival } from "../comparison.mjs";

const METHODS = [
  ours(),
  own("hedgerow, 120 rules, 24,441 paths", "hedgerow, more rules, paths"),
  rival("xxhash-wasm", "`xxhash-wasm`"),
  rival("es-module-lexer", "`es-module-lexer`"),
  floor("nothing", "a module of one function"),
];

/** workerd refuses what compiles bytes. */
const IN_WORKERD = METHODS.filter(({ method }) => method !== "es-module-lexer");

const NODES = ["node20", "node22", "node24", "node26"];
const WAYS = ["as installed", "as installed, after another", "bundled"];

/** @param {string} way */
const onNodes = (way) =>
  NODES.map((engine) => ({
    title: engine.replace("node", "Node "),
    place: `${engine.replace("node", "Node ")}, ${way}`,
    suite: `start-${engine}`,
    workload: way,
    methods: METHODS,
  }));

const WORKERD = [
  { title: "from start to response", suite: "start-workerd" },
  { title: "over nothing, in the same round", suite: "start-workerd, over nothing" },
].map((one) => ({
  ...{ ...one, place: `workerd, ${one.title}` },
  ...{ workload: "process", methods: IN_WORKERD },
}));

/** @returns {import("../made.mjs").Section} */
export function start() {
  const nodes = WAYS.map((way) => [way, { what: "ms", spreads: true, comparisons: onNodes(way) }]);
  return {
    name: "start",
    suite: "start",
    tables: {
      ...Object.fromEntries(nodes),
      workerd: { what: "ms", spreads: true, comparisons: WORKERD },
    },
    given: {
      import: {
        head: ["ms", ...WAYS],
        rows: METHODS.map(({ method, says }) => ({
          says,
          keys: WAYS.map((way) => ["start-node24, import", way, method]),
        })),
      },
    },
    bars: {
      start: {
        title: "The first use of a process, Node 24",
        lines: ["Import, compilation, and the first calls."],
        axis: "time, ms",
        comparisons: WAYS.map((way) => ({
          ...{ title: way, suite: "start-node24", workload: way, methods: METHODS },
        })),
      },
    },
    compared: [...WAYS.flatMap(onNodes), ...WORKERD.slice(0, 1)],
  };
}
