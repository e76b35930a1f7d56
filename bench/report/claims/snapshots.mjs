// Claims about snapshots and restores.
import { claim } from "./claim.mjs";

/** @param {string} network @param {string} label */
const restored = (network, label) =>
  claim(
    label,
    ["snapshot-restore-node20", network, "hedgerow, Node 24"],
    [
      ["curl | zstd -d", "`curl \\| zstd -d`"],
      ["curl, then zstd -d", "`curl`, then `zstd -d`"],
      ["desync -n 64, quick retries", "`desync`"],
    ],
  );

/** @type {import("./claim.mjs").Claim[]} */
export const SNAPSHOTS = [
  claim(
    "create a snapshot",
    ["snapshot-images-node24", "create", "hedgerow"],
    [["zstd -3 -T2", "`zstd -3 -T2`"]],
  ),
  claim(
    "restore a snapshot, every byte verified",
    ["snapshot-images-node24", "restore", "hedgerow"],
    [
      ["zstd -d --sparse of a snapshot", "`zstd -d` of the snapshot"],
      ["zstd -d --sparse", "`zstd -d` of a `zstd -3` file"],
    ],
  ),
  claim(
    "decode a MiB and verify its digest",
    ["snapshot-codec", "decode 1 MiB", "hedgerow"],
    [
      ["Node's own zstd", "Node’s native zstd, no digest"],
      ["ruzstd in wasm", "`ruzstd` in WebAssembly, no digest"],
    ],
  ),
  claim(
    "size of a snapshot",
    ["snapshot-size", "the file of a snapshot", "hedgerow"],
    [
      ["zstd -3, frames of 1 MiB", "`zstd -3`, frames of 1 MiB"],
      ["zstd -3, one frame", "`zstd -3`, one frame"],
    ],
  ),
  restored("90 MB/s, 30 ms", "restore, 90 MB/s a connection, 30 ms to the first byte"),
  restored("50 MB/s, 30 ms, 1 % cut", "restore, 50 MB/s, 30 ms, 1 % of responses cut off"),
  restored("loopback", "restore over loopback"),
];
