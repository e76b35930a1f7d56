// Runs an origin as a process: `serve.mjs --file PATH [--file PATH] [--root PATH]
// [--bytes-per-second N] [--shared-bytes-per-second N] [--first-byte MS] [--cut-share SHARE] [--seed N]
// [--folder PATH] [--tls] [--seconds N]`. Files are served by their names, those below the root by their relative paths, from
// memory. Prints its URL as a line of JSON, and exits when its standard input ends or its time is over.
// `GET /-/stats` returns its counters.
import { readdirSync, readFileSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { parseArgs } from "node:util";

import { makeCertificate } from "./certificate.mjs";
import { randomFaults } from "./fault.mjs";
import { startOrigin } from "./origin.mjs";
import { seededRandom } from "./random.mjs";

const { values } = parseArgs({
  options: {
    file: { type: "string", multiple: true, default: [] },
    root: { type: "string" },
    "bytes-per-second": { type: "string" },
    "shared-bytes-per-second": { type: "string" },
    "first-byte": { type: "string" },
    "cut-share": { type: "string", default: "0" },
    seed: { type: "string", default: "1" },
    folder: { type: "string" },
    tls: { type: "boolean", default: false },
    seconds: { type: "string", default: "600" },
  },
});

/** @param {string | undefined} text */
const toNumber = (text) => (text === undefined ? undefined : Number(text));

/**
 * Returns all files below a folder, read into memory: they may be more than a process may have open.
 *
 * @param {string | undefined} root
 */
function filesBelow(root) {
  if (root === undefined) return [];
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const name = `/${relative(root, path).split(sep).join("/")}`;
      return /** @type {const} */ ([name, readFileSync(path)]);
    });
}

const share = Number(values["cut-share"]);
const tls = values.tls ? makeCertificate() : undefined;
const paths = (values.file ?? []).map(
  (path) => /** @type {const} */ ([`/${basename(path)}`, path]),
);
const origin = await startOrigin({
  files: Object.fromEntries([...filesBelow(values.root), ...paths]),
  conditions: {
    bytesPerSecond: toNumber(values["bytes-per-second"]),
    sharedBytesPerSecond: toNumber(values["shared-bytes-per-second"]),
    firstByte: toNumber(values["first-byte"]),
  },
  faults:
    share > 0
      ? randomFaults(seededRandom(Number(values.seed)), { share, kinds: ["cut"] })
      : undefined,
  tls,
  folder: values.folder,
  log: false,
});

const end = () => process.exit();
process.stdin.on("end", end).on("error", end).resume();
setTimeout(end, Number(values.seconds) * 1000);

const urls = paths.map(([path]) => origin.url(path).href);
console.log(JSON.stringify({ url: origin.url().href, urls, certificate: tls?.cert }));
