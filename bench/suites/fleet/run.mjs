// Measures fleets.
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createClient } from "@redis/client";
import { Hosts, redisEngine } from "../../../js/fleet/dist/index.js";
import { freePort } from "../../../tests/support/http/free-port.mjs";
import { measureParts, NODE, result, resultsOf } from "../../harness/results.mjs";
import { takeTurns } from "../../harness/turns.mjs";
import { simulateFleets } from "./simulate.mjs";
import { POLICIES } from "./simulator/policies.ts";
import { Random } from "./simulator/random.ts";
import { measureTier } from "./tier.mjs";

const SUITE = `fleet-${NODE}`;

/** @param {{ folder: string, plan: import("./suite.mjs").Plan }} parameters */
export async function measure({ folder, plan }) {
  // The workers of nginx run as another user.
  chmodSync(folder, 0o711);
  return measureParts(SUITE, {
    decisions: () => measureDecisions(plan.rounds),
    residency: () => residency(plan),
    simulation: () => simulateFleets(plan.simulation),
    tier: () => measureTier(join(folder, "tier"), plan.tier),
  });
}

/** Measures a placer that reads a fleet whose hosts have the same images, and one whose hosts have different ones. */
async function residency(/** @type {import("./suite.mjs").Plan} */ { hosts, images }) {
  const measured = [];
  for (const shared of [true, false]) {
    const { duration, memory, peak } = await measureResidency({ hosts, images, shared });
    const workload = shared ? "the same images" : "different images";
    measured.push(
      result({ suite: `${SUITE}, resync`, workload, unit: "s" }, "hedgerow", [duration / 1000]),
      result({ suite: `${SUITE}, memory`, workload, unit: "MB" }, "hedgerow", [memory / 1e6]),
      result({ suite: `${SUITE}, process`, workload, unit: "MB" }, "hedgerow", [peak / 1e6]),
    );
  }
  return measured;
}

/** @import { Measured } from "../../harness/results.mjs" */

const HOSTS = 1_000;
const IMAGES = 1_000;
const RESIDENTS = 20;
const DECISIONS = 10_000;

/** @param {number} rounds @returns {Promise<Measured[]>} */
async function measureDecisions(rounds) {
  const random = new Random(1);
  const ids = Array.from({ length: HOSTS }, (_, number) => `host-${number}`);
  const hosts = new Hosts(ids.map((id) => ({ id, load: 10 + random.below(20) })));
  const images = Array.from({ length: IMAGES }, (_, number) => ({
    identity: `${number}`.padStart(64, "0"),
    bytes: 2 ** 28,
  }));
  const residents = images.map(
    () => new Set(Array.from({ length: RESIDENTS }, () => ids[random.below(HOSTS)] ?? "")),
  );
  const none = new Set();
  const residentsOf = (/** @type {number} */ image) => residents[image] ?? none;
  const fleet = { hosts, images, slots: 64, residentsOf, random };
  const methods = Object.entries(POLICIES).map(([name, make]) => {
    const policy = make(fleet);
    const time = () => {
      const begin = performance.now();
      for (let number = 0; number < DECISIONS; number += 1) policy.place(number % IMAGES, number);
      return ((performance.now() - begin) / DECISIONS) * 1000;
    };
    return { name, time };
  });
  const timed = await takeTurns(methods, rounds, { warmUps: 2 });
  const about = { suite: `fleet-${NODE}, decision`, workload: "1000 hosts", unit: "µs" };
  return resultsOf(about, timed, (sample) => sample);
}

/** An hour: the hosts must be there until the end. */
const TTL = 3_600_000;

/**
 * Loads a fleet into a new Redis server, and watches it in a process of its own.
 *
 * @param {{ hosts: number, images: number, shared: boolean }} fleet `images` of each host; all hosts have the same ones
 *   if they are shared
 * @returns {Promise<{ duration: number, memory: number, peak: number }>} in milliseconds and bytes
 */
async function measureResidency({ hosts, images, shared }) {
  const folder = mkdtempSync(join(tmpdir(), "hedgerow-redis-"));
  const port = await freePort();
  const options = ["--bind", "127.0.0.1", "--port", `${port}`, "--save", "", "--dir", folder];
  const server = spawn("redis-server", options, { stdio: "ignore" });
  const ended = once(server, "exit");
  try {
    const url = `redis://127.0.0.1:${port}`;
    await load(url, { hosts, images, shared });
    const script = fileURLToPath(new URL("watch.mjs", import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", script, url]);
    const found = JSON.parse(stdout);
    if (found.hosts !== hosts || found.images !== hosts * images) {
      throw new Error(`expected ${hosts} hosts with ${images} images each, found ${stdout}`);
    }
    return found;
  } finally {
    server.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true });
  }
}

/** @param {string} url @param {{ hosts: number, images: number, shared: boolean }} fleet */
async function load(url, { hosts, images, shared }) {
  const client = await createClient({ url, socket: { reconnectStrategy: 50 } })
    .on("error", () => {})
    .connect();
  const engine = redisEngine(client, { timeout: 60_000 });
  const status = { load: 1, capacity: 1, available: true, bytes: 1e12, hits: 1e6, misses: 1e4 };
  for (let number = 0; number < hosts; number += 1) {
    const digest = (/** @type {number} */ image) =>
      createHash("sha256")
        .update(`${shared ? "" : number} ${image}`)
        .digest("hex");
    const added = Array.from({ length: images }, (_, image) => digest(image));
    const version = { host: `host-${number}`, epoch: "1", seq: 1, ttl: TTL, status, count: images };
    await engine.publish({ ...version, isFull: true, added, removed: [] });
  }
  client.destroy();
}
