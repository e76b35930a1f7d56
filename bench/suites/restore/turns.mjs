// Timing tools, which take turns.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { roundTeller } from "../../harness/progress.mjs";
import * as turns from "../../harness/turns.mjs";

/** @typedef {import("../../harness/server.mjs").Server} Server */
/** @typedef {import("./tools.mjs").Targets} Targets */
/** @typedef {import("./tools.mjs").Tool} Tool */

/**
 * What a tool says of its work. Times are milliseconds.
 *
 * @typedef {{ memory?: number, processor?: number, retries?: number, hedged?: number, failures?: number, fetch?: number, decode?: number, write?: number }} Told
 */

/**
 * One run of a tool: what it says, and what was seen of it and of the server. `failures` are tries that
 * did not work.
 *
 * @typedef {Told & { elapsed: number, failures: number, bytes: number, requests: number, serverProcessor: number }} Run
 */

/** How often a tool is started again that fails. */
const MOST_TRIES = 20;

/** How long a tool may take, in milliseconds: none takes as long that does not hang. */
const LONGEST = 600_000;

/** How often the connections of a server are counted, in milliseconds. */
const LOOK = 10;

/** What became of a tool. @typedef {import("../../harness/turns.mjs").Timed<Run>} Timed */

/**
 * Times tools, which take turns. What is restored first is compared with the image.
 *
 * @param {string} what for people
 * @param {Server} server
 * @param {Tool[]} tools
 * @param {{ rounds: number, warmUps: number, targets: Targets, image?: string }} options
 * @returns {Promise<Timed[]>}
 */
export function takeTurns(what, server, tools, { rounds, warmUps, targets, image }) {
  const ways = tools.map((tool) => {
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
  return turns.takeTurns(ways, rounds, { warmUps, onRound: roundTeller(what, rounds) });
}

/**
 * Runs a tool until it works, on what it has not made yet.
 *
 * @param {Server} server
 * @param {Tool} tool
 * @param {Targets} targets
 * @returns {Promise<Run>}
 */
async function time(server, { command, args, refusal }, targets) {
  if (refusal !== undefined) throw new Error(refusal);
  for (const target of Object.values(targets)) rmSync(target, { force: true });
  const before = await server.stats();
  const start = performance.now();
  let failures = 0;
  const attempt = () => spawnSync(command, args, { encoding: "utf8", timeout: LONGEST });
  let { status, stdout, stderr } = attempt();
  while (status !== 0) {
    failures += 1;
    if (failures === MOST_TRIES) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
    ({ status, stdout, stderr } = attempt());
  }
  const elapsed = performance.now() - start;
  const after = await server.stats();
  /** @type {Told} */
  const told = stdout.startsWith("{") ? JSON.parse(stdout) : {};
  return {
    ...told,
    elapsed,
    failures: failures + (told.failures ?? 0),
    bytes: after.bytes - before.bytes,
    requests: after.requests - before.requests,
    serverProcessor: after.processor - before.processor,
  };
}

/** @param {Tool} tool @param {string} image @param {string} restored */
function compare({ name }, image, restored) {
  const { status } = spawnSync("cmp", ["-s", image, restored]);
  if (status !== 0) throw new Error(`${name}: expected the image that the snapshot was made of`);
}

/**
 * How many connections a tool has at a time, at most. It is not timed.
 *
 * @param {Server} server
 * @param {Tool} tool
 * @param {Targets} targets
 */
export async function mostConnections(server, { command, args }, targets) {
  for (const target of Object.values(targets)) rmSync(target, { force: true });
  const child = spawn(command, args, { stdio: "ignore" });
  const exit = once(child, "exit");
  let most = 0;
  while (child.exitCode === null) {
    most = Math.max(most, (await server.stats()).connections);
    await sleep(LOOK);
  }
  await exit.catch(() => {});
  return most;
}
