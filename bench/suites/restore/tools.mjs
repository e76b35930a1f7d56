// The tools that restore an image from a server, each as people would use it, in processes of its own.
import { fileURLToPath } from "node:url";

import { goTool } from "../../../scripts/lib/go.mjs";
import { node24 } from "../../../scripts/lib/paths.mjs";
import { WORKERS } from "./plan.mjs";

/**
 * What is timed: a command that prints nothing, or what it says of its work as JSON.
 *
 * @typedef {object} Tool
 * @property {string} name
 * @property {string} command
 * @property {string[]} args
 * @property {boolean} makesImage whether it restores the image, and is not only a part of the work
 * @property {string | undefined} [refusal] why it cannot be run, if it cannot
 */

/** Where tools put things. @typedef {{ restored: string, download: string }} Targets */

/**
 * Curl by itself begins a download again that broke off, even if it is told to go on (`--retry` and
 * `-C -`, as of 7.88). Started again, it goes on.
 */
const DOWNLOAD = `failures=0
until curl -s -f --noproxy '*' -C - -o "$2" "$1"; do
  failures=$((failures + 1))
  [ $failures -lt 20 ] || exit 1
done
zstd -d --sparse -q -f "$2" -o "$3" && echo "{ \\"failures\\": $failures }"`;

/** What breaks off has a wrong end for zstd, whose status is that of the pipe. */
const PIPE = `curl -s -f --noproxy '*' "$1" | zstd -d --sparse -q -f -o "$2"`;

/** @param {string} name */
const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/**
 * Ours.
 *
 * @param {string} name
 * @param {string} url
 * @param {Targets} targets
 * @param {import("../../../js/snapshot/dist/index.js").RestoreOptions} [options]
 * @param {string} [node]
 * @returns {Tool}
 */
export function hedgerow(name, url, { restored }, options = {}, node = process.execPath) {
  const wanted = JSON.stringify({ workers: WORKERS, ...options });
  return {
    name,
    command: node,
    args: [here("restore.mjs"), url, restored, wanted],
    makesImage: true,
  };
}

/**
 * All tools, ours first.
 *
 * @param {import("../../harness/server.mjs").Server} server
 * @param {import("./inputs.mjs").Inputs} inputs
 * @param {Targets} targets
 * @returns {Tool[]}
 */
export function allTools(server, inputs, targets) {
  const { restored, download } = targets;
  const [snapshot, zst] = [server.url(inputs.snapshot), server.url(inputs.zst)];
  const tool = (
    /** @type {string} */ name,
    /** @type {string} */ command,
    /** @type {string[]} */ ...args
  ) => ({ name, command, args, makesImage: true });
  const shell = (
    /** @type {string} */ name,
    /** @type {string} */ script,
    /** @type {string[]} */ ...args
  ) => tool(name, "sh", "-c", script, "sh", ...args);
  const desync = (/** @type {string} */ name, /** @type {string[]} */ ...flags) => ({
    ...tool(
      name,
      goTool("desync"),
      ...["extract", "-s", server.url(), ...flags, server.url(inputs.index), restored],
    ),
    refusal: inputs.refusal,
  });
  const zlib = (/** @type {string} */ name, /** @type {string[]} */ ...flags) =>
    tool(name, node24, here("fetch-zlib.mjs"), zst, restored, ...flags);
  return [
    hedgerow("hedgerow", snapshot, targets),
    hedgerow("hedgerow, Node 24", snapshot, targets, {}, node24),
    shell("curl, then zstd -d", DOWNLOAD, zst, download, restored),
    shell("curl, then zstd -d, .vhs", DOWNLOAD, snapshot, download, restored),
    shell("curl | zstd -d", PIPE, zst, restored),
    shell("curl | zstd -d, .vhs", PIPE, snapshot, restored),
    desync("desync -n 16", "-n", "16"),
    desync("desync -n 64, quick retries", "-n", "64", "-e", "20", "-b", "20ms"),
    zlib("fetch, zlib, Node 24"),
    zlib("fetch, zlib, holes, Node 24", "holes"),
  ];
}

/**
 * The parts of the work, each alone: to fetch bytes, and to decode and write them.
 *
 * @param {import("../../harness/server.mjs").Server} server
 * @param {import("./inputs.mjs").Inputs} inputs
 * @param {Targets} targets
 * @param {number} connections
 * @returns {Tool[]}
 */
export function parts(server, { snapshot, needed }, { restored }, connections) {
  const args = [server.url(snapshot), String(needed), String(connections)];
  const node = (/** @type {string} */ script, /** @type {string[]} */ ...rest) => ({
    name: script,
    command: process.execPath,
    args: [here(script), ...rest],
    makesImage: false,
  });
  return [node("drain.mjs", ...args), node("parts.mjs", snapshot, restored)];
}
