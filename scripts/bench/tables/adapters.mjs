// The tables of the adapters suite.
import { figure, markdown, spread } from "./markdown.mjs";

/** @typedef {import("../../bench.mjs").Result} Result */

const SUITE = "adapters-node24, ";

/** @param {Result[]} all @returns {Record<string, string>} the tables, by their names; none without results */
export function adapterTables(all) {
  const own = all.filter(({ suite }) => suite.startsWith(SUITE));
  if (own.length === 0) return {};
  const find = (
    /** @type {string} */ what,
    /** @type {string} */ workload,
    /** @type {string} */ method,
  ) =>
    own.find(
      (one) => one.suite === SUITE + what && one.workload === workload && one.method === method,
    );
  const workloads = [...new Set(own.map(({ workload }) => workload))];
  const methods = [...new Set(own.map(({ method }) => method))];
  const added = methods.filter((method) => method !== "bare");
  const beside = (/** @type {string} */ what) =>
    markdown(
      ["", "bare", ...added],
      workloads.map((workload) => [
        workload,
        figure(find(what, workload, "bare")?.median ?? Number.NaN),
        ...added.map((method) => spread(find(`${what} over bare`, workload, method))),
      ]),
    );
  const latency = markdown(
    ["ms", ...methods],
    workloads.map((workload) => [
      workload,
      ...methods.map((method) => {
        const [p50, p99] = ["p50", "p99"].map((what) => find(what, workload, method)?.median);
        return `${figure(p50 ?? Number.NaN)}, ${figure(p99 ?? Number.NaN)}`;
      }),
    ]),
  );
  return {
    "adapters: processor time": beside("processor time"),
    "adapters: requests a second": beside("requests a second"),
    "adapters: latency": latency,
  };
}
