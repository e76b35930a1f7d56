// Times tools, which take turns, and turns their runs into results.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { NODE, result, resultsOf } from "../../harness/results.mjs";
import * as turns from "../../harness/turns.mjs";
import { roundLogger } from "../../harness/turns.mjs";

/** @import { About, Details } from "../../harness/results.mjs" */
/** @import { Server } from "../../harness/server.mjs" */
/** @import { Targets, Tool } from "./tools.mjs" */

/**
 * The report of a tool. Times are milliseconds.
 *
 * @typedef {{ memory?: number, processor?: number, each?: number[], retries?: number, hedged?: number, failures?: number }} ToolReport
 */

/**
 * A run of a tool: its report, and figures of the process and of the server. `failures` are failed attempts.
 *
 * @typedef {ToolReport & { elapsed: number, failures: number, bytes: number, requests: number, serverProcessor: number }} Run
 */

/** Attempts before a tool counts as failed. */
const MAX_ATTEMPTS = 20;

/** Milliseconds after which a tool is considered stuck. */
const TIMEOUT = 600_000;

/** The runs of a tool. @typedef {import("../../harness/turns.mjs").Timed<Run>} Timed */

/**
 * Times tools, which take turns. The first image of each tool is compared with the original.
 *
 * @param {string} what printed with the progress
 * @param {Server} server
 * @param {Tool[]} tools
 * @param {{ rounds: number, warmUps: number, targets: Targets, image?: string }} options
 * @returns {Promise<Timed[]>}
 */
export function takeTurns(what, server, tools, { rounds, warmUps, targets, image }) {
  const methods = tools.map((tool) => {
    let isCompared = image === undefined;
    return {
      name: tool.name,
      async time() {
        const run = await time(server, tool, targets);
        if (!isCompared) compare(tool, image ?? "", targets.restored);
        isCompared = true;
        return run;
      },
    };
  });
  return turns.takeTurns(methods, rounds, { warmUps, onRound: roundLogger(what, rounds) });
}

/**
 * Runs a tool until it succeeds, after removing its output.
 *
 * @param {Server} server
 * @param {Tool} tool
 * @param {Targets} targets
 * @returns {Promise<Run>}
 */
async function time(server, { command, args, unavailable }, targets) {
  if (unavailable !== undefined) throw new Error(unavailable);
  for (const target of Object.values(targets)) rmSync(target, { force: true });
  const before = await server.stats();
  const start = performance.now();
  const attempt = () => spawnSync(command, args, { encoding: "utf8", timeout: TIMEOUT });
  let failures = 0;
  let tried = attempt();
  while (tried.status !== 0) {
    failures += 1;
    if (failures === MAX_ATTEMPTS) {
      const call = `${command} ${args.join(" ")}`;
      throw new Error(`${call} failed ${failures} times: ${tried.stderr}`);
    }
    tried = attempt();
  }
  const elapsed = performance.now() - start;
  const after = await server.stats();
  /** @type {ToolReport} */
  const report = tried.stdout.startsWith("{") ? JSON.parse(tried.stdout) : {};
  return {
    ...report,
    elapsed,
    failures: failures + (report.failures ?? 0),
    bytes: after.bytes - before.bytes,
    requests: after.requests - before.requests,
    serverProcessor: after.processor - before.processor,
  };
}

/** @param {Timed[]} timed */
export const succeeded = (timed) => timed.filter(({ why }) => why === undefined);

/** @param {Tool} tool @param {string} image @param {string} restored */
function compare({ name }, image, restored) {
  const { status } = spawnSync("cmp", ["-s", image, restored]);
  if (status !== 0) throw new Error(`${name} restored other bytes than those of the image`);
}

const SUITE = `snapshot-restore-${NODE}`;

/** @param {string} quantity @param {string} workload @param {string} unit @returns {About} */
const of = (quantity, workload, unit) => ({ suite: `${SUITE}, ${quantity}`, workload, unit });

/**
 * Returns the time of each method, or why it failed.
 *
 * @param {string} workload
 * @param {Timed[]} timed
 * @param {Details} [details]
 */
export function times(workload, timed, details) {
  const about = { suite: SUITE, workload, unit: "ms" };
  return resultsOf(about, timed, ({ elapsed }) => elapsed, details);
}

/** Only Hedgerow reports its memory. @param {Timed[]} timed */
const hedgerowOf = (timed) => timed.filter(({ samples: [first] }) => first?.memory !== undefined);

/** Returns the peak memory of Hedgerow. @param {string} workload @param {Timed[]} timed */
export const memory = (workload, timed) =>
  resultsOf(
    of("peak memory", workload, "MiB"),
    hedgerowOf(timed),
    ({ memory: bytes = 0 }) => bytes / 2 ** 20,
  );

/**
 * Returns the processor time of the first and of the last restore of a process, which repeats it.
 *
 * @param {string} workload
 * @param {Timed[]} timed
 */
export const firstAndLast = (workload, timed) =>
  ["first", "last"].flatMap((which) =>
    resultsOf(
      of(`processor time of the ${which} restore of a process`, workload, "ms"),
      timed,
      ({ each = [] }) => each.at(which === "first" ? 0 : -1) ?? Number.NaN,
    ),
  );

/**
 * Returns requests, bytes and failures.
 *
 * @param {string} workload
 * @param {Timed[]} timed
 * @param {number} needed size of the snapshot in bytes
 */
export function traffic(workload, timed, needed) {
  const [all, ours] = [succeeded(timed), hedgerowOf(timed)];
  /** @type {[quantity: string, unit: string, of: Timed[], figure: (run: Run) => number][]} */
  const rows = [
    ["bytes sent", "MB", all, ({ bytes }) => bytes / 1e6],
    ["requests", "", all, ({ requests }) => requests],
    ["processor time of the server", "ms", all, ({ serverProcessor }) => serverProcessor],
    ["bytes sent over needed", "×", ours, ({ bytes }) => bytes / needed],
    ["retries", "", ours, ({ retries = 0 }) => retries],
    ["hedged", "", ours, ({ hedged = 0 }) => hedged],
    ["processor time", "ms", ours, ({ processor = 0 }) => processor],
  ];
  const failed = of("tries that failed in all rounds", workload, "");
  return [
    ...rows.flatMap(([quantity, unit, some, figure]) =>
      resultsOf(of(quantity, workload, unit), some, figure),
    ),
    ...all.map(({ name, samples }) =>
      result(failed, name, [samples.reduce((sum, { failures }) => sum + failures, 0)]),
    ),
  ];
}
