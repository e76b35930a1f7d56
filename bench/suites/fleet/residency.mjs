// Measures how long a placer takes to read the residency of a large fleet, and its memory.
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createClient } from "@redis/client";

import { redisEngine } from "../../../js/fleet/dist/index.js";
import { freePort } from "../../../tests/support/http/free-port.mjs";

/** An hour: the hosts must be there until the end. */
const TTL = 3_600_000;

/**
 * Loads a fleet into a new Redis server, and watches it in a process of its own.
 *
 * @param {{ hosts: number, images: number, shared: boolean }} fleet `images` of each host; all hosts have the same ones
 *   if they are shared
 * @returns {Promise<{ duration: number, memory: number, peak: number }>} in milliseconds and bytes
 */
export async function measureResidency({ hosts, images, shared }) {
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
