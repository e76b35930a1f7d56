// The tables of the start suite.
import { figure, markdown, spread } from "./markdown.mjs";

/** @typedef {import("../../bench.mjs").Result} Result */

const NODES = [20, 22, 24, 26];

/** @param {Result[]} all @returns {Record<string, string>} the tables, by their names; none without results */
export function startTables(all) {
  const methods = [...new Set(all.filter(isOfStart).map(({ method }) => method))];
  if (methods.length === 0) return {};
  const find = (
    /** @type {string} */ suite,
    /** @type {string} */ workload,
    /** @type {string} */ method,
  ) => all.find((one) => one.suite === suite && one.workload === workload && one.method === method);
  const inNode = (/** @type {string} */ workload) =>
    markdown(
      ["ms", ...NODES.map((node) => `Node ${node}`), "Node 24, of it the import"],
      methods.map((method) => [
        nameOf(method),
        ...NODES.map((node) => spread(find(`start-node${node}`, workload, method))),
        figure(find("start-node24, import", workload, method)?.median ?? Number.NaN),
      ]),
    );
  const inWorkerd = markdown(
    ["ms", "from start to response", "over nothing, in the same round"],
    methods
      .filter((method) => find("start-workerd", "process", method) !== undefined)
      .map((method) => [
        nameOf(method),
        spread(find("start-workerd", "process", method)),
        method === "nothing" ? "" : spread(find("start-workerd, over nothing", "process", method)),
      ]),
  );
  return {
    "start: as installed": inNode("as installed"),
    "start: as installed, after another": inNode("as installed, after another"),
    "start: bundled": inNode("bundled"),
    "start: workerd": inWorkerd,
  };
}

/** @param {Result} result */
const isOfStart = ({ suite }) => suite.startsWith("start-");

/** @param {string} method */
const nameOf = (method) => method.replace("hedgerow", "**hedgerow**");
