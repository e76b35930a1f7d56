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

/** The counters of a server. @typedef {{ requests: number, bytes: number, connections: number, processor: number }} Stats */

export class Server {
  /** @type {import("node:child_process").ChildProcess} */
  #process;
  /** @type {string} */
  #url;

  /** @param {import("node:child_process").ChildProcess} child @param {string} url */
  constructor(child, url) {
    this.#process = child;
    this.#url = url;
  }

  /**
   * Starts a server.
   *
   * @param {import("../suites/restore/plan.mjs").Network} network
   * @param {{ files: string[], root?: string }} sources files, served by name, and a folder
   */
  static async start({ bytesPerSecond, firstByte, cutShare }, { files, root }) {
    const flags = {
      "bytes-per-second": bytesPerSecond,
      "first-byte": firstByte,
      "cut-share": cutShare,
      root,
      seconds: LIFETIME,
    };
    const args = Object.entries(flags).flatMap(([name, value]) =>
      value === undefined ? [] : [`--${name}`, String(value)],
    );
    args.push(...files.flatMap((file) => ["--file", file]));
    const child = spawn(process.execPath, [SCRIPT, ...args], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const [line] = await once(child.stdout, "data");
    return new Server(child, JSON.parse(String(line)).url);
  }

  /** Returns the URL of a file, or of the folder. @param {string} path */
  url(path = "") {
    return new URL(basename(path), this.#url).href;
  }

  /** @returns {Promise<Stats>} */
  async stats() {
    // Not kept alive: the connection counts itself.
    const request = get(new URL("/-/stats", this.#url), { agent: false });
    const [response] = await once(request, "response");
    const { requestCount, bytesSent, connectionCount } = JSON.parse(await text(response));
    return {
      requests: requestCount,
      bytes: bytesSent,
      connections: connectionCount - 1,
      processor: this.#processor(),
    };
  }

  async stop() {
    const exit = once(this.#process, "exit");
    this.#process.stdin?.end();
    await exit;
  }

  /** Returns the processor time of the server, in milliseconds. */
  #processor() {
    const stat = readFileSync(`/proc/${this.#process.pid}/stat`, "utf8");
    // The name in parentheses may have spaces; the third field follows it.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[11]) + Number(fields[12])) * TICK;
  }
}
