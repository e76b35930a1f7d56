// Times tools, which take turns.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { roundLogger } from "../../harness/progress.mjs";
import * as turns from "../../harness/turns.mjs";

/** @import { Server } from "../../harness/server.mjs" */
/** @import { Targets, Tool } from "./tools.mjs" */

/**
 * The report of a tool. Times are milliseconds.
 *
 * @typedef {{ memory?: number, processor?: number, retries?: number, hedged?: number, failures?: number, fetch?: number, decode?: number, write?: number }} ToolReport
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

/** Milliseconds between counts of the connections of a server. */
const POLL_INTERVAL = 10;

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
    let isCompared = image === undefined || !tool.makesImage;
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

/**
 * Returns the maximum of concurrent connections of a tool, which is not timed.
 *
 * @param {Server} server
 * @param {Tool} tool
 * @param {Targets} targets
 */
export async function maxConnections(server, { command, args }, targets) {
  for (const target of Object.values(targets)) rmSync(target, { force: true });
  const child = spawn(command, args, { stdio: "ignore" });
  const exit = once(child, "exit");
  let max = 0;
  while (child.exitCode === null) {
    max = Math.max(max, (await server.stats()).connections);
    await sleep(POLL_INTERVAL);
  }
  await exit.catch(() => {});
  return max;
}
