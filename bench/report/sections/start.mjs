// The suite `start`: the first use in a process, import and compilation included.
import { floor, ours, own, rival } from "../comparison.mjs";

const METHODS = [
  ...[ours(), own("hedgerow, 120 rules, 24,441 paths", "hedgerow, larger inputs")],
  rival("xxhash-wasm", "`xxhash-wasm`"),
  rival("es-module-lexer", "`es-module-lexer`"),
  floor("nothing", "one function"),
];

const WAYS = ["as installed", "as installed, after another", "bundled"];

/** @param {string} way */
const onNodes = (way) =>
  [20, 22, 24, 26].map((version) => ({
    ...{ title: `Node ${version}`, place: `Node ${version}, ${way}` },
    ...{ suite: `start-node${version}`, workload: way, methods: METHODS },
  }));

const WORKERD = {
  ...{ title: "workerd", place: "workerd, from start to response" },
  ...{ suite: "start-workerd", workload: "process" },
  // workerd does not compile WebAssembly from bytes, as `es-module-lexer` does.
  methods: METHODS.filter(({ method }) => method !== "es-module-lexer"),
};

const ON_NODE24 = WAYS.map((way) => ({
  ...{ title: way, suite: "start-node24", workload: way, methods: METHODS },
}));

/** @type {import("../generate.mjs").Section} */
export const START = {
  name: "start",
  suite: "start",
  answer: ({ at }) => {
    const bundled = at("start-node24", "bundled");
    return `The first use in a process takes ${bundled.ours} on Node 24 when bundled; smaller
      packages with WebAssembly take less: \`xxhash-wasm\` ${bundled.times("xxhash-wasm")} as long,
      \`es-module-lexer\` ${bundled.times("es-module-lexer")}.`;
  },
  chart: {
    title: "The first use in a process, Node 24",
    lines: ["Import, compilation and the first calls."],
    axis: "time, ms",
    comparisons: ON_NODE24,
  },
  tables: {
    "Node 24": { what: "Node 24, ms", comparisons: ON_NODE24 },
    engines: {
      what: "as installed, in workerd bundled, ms",
      comparisons: [...onNodes("as installed"), WORKERD],
    },
    import: {
      head: ["Node 24, import only, ms", ...WAYS],
      rows: METHODS.map(({ method, label }) => ({
        label,
        keys: WAYS.map((way) => ["start-node24, import", way, method]),
      })),
    },
  },
  compared: [...WAYS.flatMap(onNodes), WORKERD],
};
