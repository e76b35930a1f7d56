// Starts nginx with the configuration of examples/shared-tier.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import { freePort } from "../http/free-port.mjs";

const EXAMPLE = new URL("../../../examples/shared-tier/nginx.conf", import.meta.url);
const GUARD = fileURLToPath(new URL("../processes/guard.mjs", import.meta.url));

/** Seconds after which nginx ends by itself. */
const LIFETIME = 3600;

/** Attempts to connect to nginx when it starts, and milliseconds between them. */
const [ATTEMPTS, INTERVAL] = [500, 20];

/**
 * @typedef {object} TierOptions
 * @property {URL} store
 * @property {string} [parent] the folder for its own folder, which every user may enter. Default: that of the system
 * @property {readonly string[]} [wrapper] a command that runs nginx
 * @property {readonly (readonly [from: string | RegExp, to: string])[]} [changes] further changes of the configuration
 */

/** @typedef {Awaited<ReturnType<typeof startTier>>} Tier */

/** Starts a tier in front of a store. It ends with this process. @param {TierOptions} options */
export async function startTier({ store, parent = tmpdir(), wrapper = [], changes = [] }) {
  const folder = mkdtempSync(join(parent, "hedgerow-tier-"));
  // The workers of nginx run as another user.
  chmodSync(folder, 0o755);
  const cache = join(folder, "cache");
  const [config, log, errors] = ["nginx.conf", "log", "errors"].map((name) => join(folder, name));
  if (config === undefined || log === undefined || errors === undefined) throw new Error("no path");
  const port = await freePort();
  const text = [
    /** @type {const} */ (["/var/cache/nginx/hedgerow", cache]),
    /** @type {const} */ (["/var/log/nginx/hedgerow-tier.error.log", errors]),
    /** @type {const} */ (["/var/log/nginx/hedgerow-tier.log", log]),
    /** @type {const} */ (["/run/hedgerow-tier.pid", join(folder, "pid")]),
    /** @type {const} */ (["s3.internal:9000", store.host]),
    /** @type {const} */ (["listen 8080", `listen 127.0.0.1:${port}`]),
    ...changes,
  ].reduce(replaced, readFileSync(EXAMPLE, "utf8"));
  writeFileSync(config, text);
  const start = () => runNginx({ config, errors, port, wrapper });
  let kill = await start();
  return {
    url: new URL(`http://127.0.0.1:${port}`),
    cache,
    /** Returns the lines of its access log. */
    log: () => readFileSync(log, "utf8").split("\n").slice(0, -1),
    errors: () => readFileSync(errors, "utf8"),
    /** Kills all of its processes. */
    kill: () => kill(),
    /** Starts it again, with the same address and cache. */
    async restart() {
      kill = await start();
    },
    async close() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Runs nginx until this process ends, or until the function that it returns is called.
 *
 * @param {{ config: string, errors: string, port: number, wrapper?: readonly string[] }} options files of its
 * configuration and its log, the port that it listens on, and a command that runs it
 */
export async function runNginx({ config, errors, port, wrapper = [] }) {
  const command = [...wrapper, "nginx", "-e", errors, "-c", config, "-g", "daemon off;"];
  const child = spawn(process.execPath, [GUARD, `${LIFETIME}`, ...command], {
    stdio: ["pipe", "inherit", "inherit"],
  });
  const exit = once(child, "exit");
  await untilListening(port, () => child.exitCode !== null, errors);
  return async () => {
    child.stdin?.end();
    await exit;
  };
}

/** Replaces a text that occurs once. @param {string} text @param {readonly [string | RegExp, string]} change */
function replaced(text, [from, to]) {
  const parts = text.split(from);
  if (parts.length !== 2)
    throw new Error(`expected ${from} once, found it ${parts.length - 1} times`);
  return parts.join(to);
}

/** @param {number} port @param {() => boolean} hasEnded @param {string} errors */
async function untilListening(port, hasEnded, errors) {
  for (let attempt = 0; attempt < ATTEMPTS && !hasEnded(); attempt += 1) {
    const socket = connect(port, "127.0.0.1");
    const isListening = await new Promise((resolve) => {
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
    });
    socket.destroy();
    if (isListening) return;
    await sleep(INTERVAL);
  }
  throw new Error(`nginx does not start: ${readFileSync(errors, "utf8")}`);
}
