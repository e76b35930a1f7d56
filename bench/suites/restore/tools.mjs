// The tools that restore an image from a server, used as their documentation recommends, each in a process of its own.
import { fileURLToPath } from "node:url";

import { goTool } from "../../../scripts/lib/go.mjs";
import { node24 } from "../../../scripts/lib/paths.mjs";
import { WORKERS } from "./suite.mjs";

/**
 * A command. It prints nothing, or a report as JSON.
 *
 * @typedef {object} Tool
 * @property {string} name
 * @property {string} command
 * @property {string[]} args
 * @property {string | undefined} [unavailable] why it cannot be run
 */

/** The files that tools write. @typedef {{ restored: string, download: string }} Targets */

/**
 * With `--retry`, curl 7.88 begins a broken download again, even with `-C -`. Started again, it resumes.
 */
const DOWNLOAD = `failures=0
until curl -s -f --noproxy '*' -C - -o "$2" "$1"; do
  failures=$((failures + 1))
  [ $failures -lt 20 ] || exit 1
done
zstd -d --sparse -q -f "$2" -o "$3" && echo "{ \\"failures\\": $failures }"`;

/** Over as many connections as aria2c has to a server, which retries by itself. */
const PARALLEL = `aria2c -q --no-conf --max-tries=20 --file-allocation=falloc --allow-overwrite=true \\
  -x 16 -s 16 -k 1M -d "$(dirname "$2")" -o "$(basename "$2")" "$1" &&
zstd -d --sparse -q -f "$2" -o "$3"`;

/** A broken download fails in zstd, whose status is that of the pipe. */
const PIPE = `curl -s -f --noproxy '*' "$1" | zstd -d --sparse -q -f -o "$2"`;

const here = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));

/** @param {string} name @param {string} command @param {string[]} args @returns {Tool} */
const tool = (name, command, ...args) => ({ name, command, args });

/** @param {string} name @param {string} script @param {string[]} args */
const shell = (name, script, ...args) => tool(name, "sh", "-c", script, "sh", ...args);

/**
 * Hedgerow.
 *
 * @param {string} name
 * @param {string} url
 * @param {Targets} targets
 * @param {import("../../../js/snapshot/dist/index.js").RestoreOptions} [options]
 * @param {string} [node]
 * @param {number} [times] how often, in the same process
 */
export function hedgerow(name, url, targets, options = {}, node = process.execPath, times = 1) {
  const allOptions = JSON.stringify({ workers: WORKERS, ...options });
  return tool(name, node, here("restore.mjs"), url, targets.restored, allOptions, `${times}`);
}

/**
 * Returns all tools, Hedgerow first.
 *
 * @param {import("../../harness/server.mjs").Server} server
 * @param {import("./inputs.mjs").Inputs} inputs
 * @param {Targets} targets
 * @returns {Tool[]}
 */
export function allTools(server, inputs, targets) {
  const { restored, download } = targets;
  const [snapshot, zst] = [server.url(inputs.snapshot), server.url(inputs.zst)];
  const extract = ["extract", "-s", server.url()];
  const desync = (/** @type {string} */ name, /** @type {string[]} */ ...flags) => ({
    ...tool(name, goTool("desync"), ...extract, ...flags, server.url(inputs.index), restored),
    unavailable: inputs.desyncError,
  });
  const zlib = [here("fetch-zlib.mjs"), zst, restored];
  return [
    hedgerow("hedgerow", snapshot, targets),
    hedgerow("hedgerow, Node 24", snapshot, targets, {}, node24),
    shell("curl, then zstd -d", DOWNLOAD, zst, download, restored),
    shell("curl, then zstd -d, .vhs", DOWNLOAD, snapshot, download, restored),
    shell("aria2c -x 16, then zstd -d", PARALLEL, zst, download, restored),
    shell("curl | zstd -d", PIPE, zst, restored),
    shell("curl | zstd -d, .vhs", PIPE, snapshot, restored),
    desync("desync -n 16", "-n", "16"),
    desync("desync -n 64, quick retries", "-n", "64", "-e", "20", "-b", "20ms"),
    tool("fetch, zlib, Node 24", node24, ...zlib),
    tool("fetch, zlib, holes, Node 24", node24, ...zlib, "holes"),
  ];
}
