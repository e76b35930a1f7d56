// The origin that images are restored from, in a process of its own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { get } from "node:http";
import { basename } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const SCRIPT = fileURLToPath(new URL("../../tests/origin/serve.mjs", import.meta.url));

/** Seconds after which a server ends by itself. */
const LIFETIME = 4 * 3600;

/** The system’s clock tick, in milliseconds. */
const TICK = 10;

/**
 * The counters of a server: requests, bytes sent, and processor time in milliseconds.
 *
 * @typedef {{ requests: number, bytes: number, processor: number }} Stats
 */

/**
 * A network: the rate of a connection or of all together in bytes a second, milliseconds to the first byte of a response,
 * and the share of responses whose connection is cut within the body.
 *
 * @typedef {{ name: string, bytesPerSecond?: number, sharedBytesPerSecond?: number, firstByte?: number, cutShare?: number }} Network
 */

/** @type {Network} */
export const LOOPBACK = { name: "loopback" };

/** @type {Network} */
export const FAST = { name: "90 MB/s, 30 ms", bytesPerSecond: 90e6, firstByte: 30 };

/** @type {Network} */
export const CUT = {
  name: "50 MB/s, 30 ms, 1 % cut",
  bytesPerSecond: 50e6,
  firstByte: 30,
  cutShare: 0.01,
};

/** @typedef {Awaited<ReturnType<typeof startServer>>} Server */

/**
 * Starts a server of files, by name, and of a folder.
 *
 * @param {Network} network
 * @param {{ files: string[], root?: string }} sources
 */
export async function startServer(network, { files, root }) {
  const { bytesPerSecond, sharedBytesPerSecond, firstByte, cutShare } = network;
  const flags = {
    "bytes-per-second": bytesPerSecond,
    "shared-bytes-per-second": sharedBytesPerSecond,
    "first-byte": firstByte,
    "cut-share": cutShare,
    root,
    seconds: LIFETIME,
  };
  const args = Object.entries(flags).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, String(value)],
  );
  args.push(...files.flatMap((file) => ["--file", file]));
  const child = spawn(process.execPath, [SCRIPT, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const [line] = await once(child.stdout, "data");
  const { url } = JSON.parse(String(line));
  return {
    /** Returns the URL of a file, or of the folder. */
    url: (path = "") => new URL(basename(path), url).href,

    /** @returns {Promise<Stats>} */
    async stats() {
      // Not kept alive, so that the server can stop.
      const [response] = await once(get(new URL("/-/stats", url), { agent: false }), "response");
      const { requestCount, bytesSent } = JSON.parse(await text(response));
      return {
        requests: requestCount,
        bytes: bytesSent,
        processor: processorTime(child.pid),
      };
    },

    async stop() {
      const exit = once(child, "exit");
      child.stdin.end();
      await exit;
    },
  };
}

/** Returns the processor time of a process, in milliseconds. @param {number | undefined} pid */
function processorTime(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The name in parentheses may have spaces; the third field follows it.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK;
}
