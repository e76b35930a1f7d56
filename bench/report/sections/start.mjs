// How long the first use in a process takes, import and compilation included.
import { floor, ours, own, rival } from "../comparison.mjs";

const METHODS = [
  ours(),
  own("hedgerow, 120 rules, 24,441 paths", "hedgerow, larger inputs"),
  rival("xxhash-wasm", "`xxhash-wasm`"),
  rival("es-module-lexer", "`es-module-lexer`"),
  floor("nothing", "one function"),
];

/** workerd does not compile WebAssembly from bytes. */
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
  {
    ...{ title: "workerd", place: "workerd, from start to response" },
    ...{ suite: "start-workerd", workload: "process", methods: IN_WORKERD },
  },
];

const ON_NODE24 = WAYS.map((way) => ({
  ...{ title: way, suite: "start-node24", workload: way, methods: METHODS },
}));

/** @returns {import("../generate.mjs").Section} */
export function start() {
  return {
    name: "start",
    suite: "start",
    answer: ({ value, times }) => {
      const bundled = /** @type {const} */ (["start-node24", "bundled"]);
      const over = (/** @type {string} */ method) =>
        times([...bundled, "hedgerow"], [...bundled, method]);
      return [
        `The first use in a process takes ${value(...bundled, "hedgerow")} on Node 24 when`,
        "bundled; smaller packages with WebAssembly take less: `xxhash-wasm`",
        `${over("xxhash-wasm")} as long, \`es-module-lexer\` ${over("es-module-lexer")}.`,
      ].join(" ");
    },
    tables: {
      "Node 24": { what: "Node 24, ms", comparisons: ON_NODE24 },
      engines: {
        what: "ms",
        comparisons: [...onNodes("as installed"), ...WORKERD],
      },
    },
    plainTables: {
      import: {
        head: ["Node 24, import only, ms", ...WAYS],
        rows: METHODS.map(({ method, label }) => ({
          label,
          keys: WAYS.map((way) => ["start-node24, import", way, method]),
        })),
      },
    },
    charts: {
      start: {
        title: "The first use in a process, Node 24",
        lines: ["Import, compilation and the first calls."],
        axis: "time, ms",
        comparisons: ON_NODE24,
      },
    },
    compared: [...WAYS.flatMap(onNodes), ...WORKERD],
  };
}
