// Claims about snapshots and restores.
import { beside } from "./claim.mjs";

/** @param {string} network @param {string} says */
const restored = (network, says) =>
  beside(
    says,
    ["snapshot-restore-node20", network, "hedgerow, Node 24"],
    [
      ["curl | zstd -d", "`curl \\| zstd -d`"],
      ["curl, then zstd -d", "`curl`, then `zstd -d`"],
      ["desync -n 64, quick retries", "`desync`"],
    ],
  );

/** @type {import("./claim.mjs").Claim[]} */
export const SNAPSHOTS = [
  beside(
    "make a snapshot",
    ["snapshot-images-node24", "create", "hedgerow"],
    [["zstd -3 -T2", "`zstd -3 -T2`"]],
  ),
  beside(
    "restore it, every byte checked",
    ["snapshot-images-node24", "restore", "hedgerow"],
    [
      ["zstd -d --sparse of a snapshot", "`zstd -d` of it"],
      ["zstd -d --sparse", "`zstd -d` of a file of its own"],
    ],
  ),
  beside(
    "decode a MiB, with its digest",
    ["snapshot-codec", "decode 1 MiB", "hedgerow"],
    [
      ["Node's own zstd", "Node’s native zstd, without"],
      ["ruzstd in wasm", "`ruzstd` in WebAssembly"],
    ],
  ),
  beside(
    "size of the file",
    ["snapshot-size", "the file of a snapshot", "hedgerow"],
    [
      ["zstd -3, frames of 1 MiB", "`zstd -3`, each MiB a frame"],
      ["zstd -3, one frame", "one frame"],
    ],
  ),
  restored("90 MB/s, 30 ms", "restore, 90 MB/s a connection, after 30 ms"),
  restored("50 MB/s, 30 ms, 1 % cut", "50 MB/s, after 30 ms, 1 % is cut"),
  restored("loopback", "all that two cores can take"),
];
