// The figures that every benchmark run is compared with, and the alternatives measured in the same run.

/** @typedef {import("../harness/results.mjs").Result} Result */
/** @typedef {import("./figures.mjs").Key} Key */

/**
 * A claim: its measurement, the key of its result, and its alternatives.
 *
 * @typedef {{ label: string, key: Key, alternatives: { label: string, key: Key }[] }} Claim
 */

/**
 * Labels by names in records: alternatives with the suite and the workload of their claim.
 *
 * @typedef {Record<string, string>} Alternatives
 */

/**
 * @param {string} label
 * @param {[suite: string, workload: string, method?: string]} at
 * @param {Alternatives} alternatives
 * @returns {Claim}
 */
const claim = (label, [suite, workload, method = "hedgerow"], alternatives) => ({
  label,
  key: [suite, workload, method],
  alternatives: Object.entries(alternatives).map(([other, name]) => ({
    label: name,
    key: [suite, workload, other],
  })),
});

const ADAPTERS = "adapters-node24, processor time";
const ADAPTER = {
  bare: "the framework alone",
  nothing: "with middleware that does nothing",
  set: "with a `Set` and loops of one’s own",
};
const HALF_ABSENT = "60 bytes, half of them absent";
const TABLES = {
  "plain-table": "a lookup table in plain JavaScript",
  "comparing-table": "a lookup table in plain JavaScript, exact match first",
  regexp: "one `RegExp`",
  "tolowercase-set": "`toLowerCase()` and a `Set`",
};
const START = { "xxhash-wasm": "`xxhash-wasm`", "es-module-lexer": "`es-module-lexer`" };
const LOAD = {
  "plain JS reader": "the same file, read in plain JavaScript",
  "JSON.parse + Set": "`JSON.parse` and a `Set`",
  "JSON tree, parsed": "`JSON.parse` of a tree",
};
const RESTORE = "snapshot-restore-node20";
const NODE_24 = "hedgerow, Node 24";
const RESTORED = {
  "curl | zstd -d": "`curl \\| zstd -d`",
  "curl, then zstd -d": "`curl`, then `zstd -d`",
  "aria2c -x 16, then zstd -d": "`aria2c -x 16`, then `zstd -d`",
  "desync -n 64, quick retries": "`desync`",
};
const NBD_SERVERS = { "qemu-nbd": "`qemu-nbd`", nbdkit: "`nbdkit`" };
const PERSISTENCE = { qcow2: "`qemu-img` and `curl`", desync: "`desync`" };
const BYTES_SENT = "fleet-node24, bytes from the store over one snapshot";
const PLACEMENT = {
  random: "random",
  "bounded loads": "consistent hashing with bounded loads",
  ImageLocality: "Kubernetes, ImageLocality",
};
const SPARSE = { "cp --sparse=always": "`cp --sparse=always`" };

/** @param {string} suite @returns {Key} */
const fewPathsRate = (suite) => [
  `paths-false-positives, ${suite}`,
  "p = 1e-7, 10 paths",
  "measured rate / p",
];

/** @type {Claim[]} */
export const CLAIMS = [
  claim("strip an `http::HeaderMap`, native", ["headers-clear", "real"], {
    "hashmap-foldhash": "`HashMap` with foldhash",
    "trie-hard": "`trie-hard`",
    loop: "a loop of `remove`",
  }),
  claim("`stripRaw`, Node 24", ["headers-node24-raw", "real"], TABLES),
  claim(
    "`stripRaw` of names with capitals, Node 24",
    ["headers-node24-raw", "real, capitals"],
    TABLES,
  ),
  claim("`stripRaw` of names close to a rule, Node 24", ["headers-node24-raw", "near"], TABLES),
  claim("`stripRaw` with an allow-list, Node 24", ["headers-node24-raw", "real", "hedgerow-keep"], {
    hedgerow: "with a list of internal fields",
  }),
  claim("`strip(Headers)`, Node 24", ["headers-node24-headers", "real"], {
    "iterate-regexp": "a `RegExp`",
    "iterate-set": "a `Set`",
    "delete-loop": "120 × `delete`",
  }),
  claim("`stripBlock`, Node 24", ["headers-node24-block", "real"], {
    "decode-split-filter-join": "decode, split, filter, join",
  }),
  ...["Express", "Fastify", "Hono"].map((name) =>
    claim(
      `a request on ${name}, stripped both ways`,
      [ADAPTERS, name.toLowerCase(), "headers"],
      ADAPTER,
    ),
  ),
  ...["bundled", "as installed"].map((way) =>
    claim(`first use in a process, Node 24, ${way}`, ["start-node24", way], START),
  ),
  claim(
    "load a filter of 24,441 paths and query it once, Node 24",
    ["paths-node24-load", "24441 paths"],
    LOAD,
  ),
  claim(
    "the same with `validate: false`",
    ["paths-node24-load", "24441 paths", "hedgerow, trusted"],
    LOAD,
  ),
  claim("size of a filter of 24,441 paths", ["paths-node24-size", "24441 paths"], {
    json: "a JSON list",
    tree: "a JSON tree",
  }),
  claim("query a filter, Node 24", ["paths-node24-has", HALF_ABSENT], {
    "Set.has": "`Set.has`",
    "bloom-filters": "`bloom-filters`",
  }),
  claim("query a filter, native", ["paths-query", "20k mixed"], {
    fastbloom: "`fastbloom`",
    "hashset-foldhash": "`HashSet` with foldhash",
  }),
  claim("query a fuse filter, Node 24", ["paths-node24-has", HALF_ABSENT, "hedgerow, fuse"], {
    hedgerow: "a Bloom filter",
    "Set.has": "`Set.has`",
  }),
  claim("query a fuse filter, native", ["paths-query", "20k mixed", "hedgerow-fuse"], {
    hedgerow: "a Bloom filter",
    fastbloom: "`fastbloom`",
  }),
  claim(
    "build a fuse filter of 10 million paths, per path, native",
    ["paths-build", "10000000", "hedgerow-fuse"],
    { hedgerow: "a Bloom filter" },
  ),
  claim(
    "size of a fuse filter of 24,441 paths",
    ["paths-node24-size", "24441 paths", "hedgerow, fuse"],
    { hedgerow: "a Bloom filter" },
  ),
  claim("build a filter of 1.6 million paths, per path, native", ["paths-build", "1600000"], {
    fastbloom: "`fastbloom`",
    bloomfilter: "`bloomfilter`",
  }),
  {
    label: "false positives over the requested rate, 1e-7, ten paths",
    key: fewPathsRate("promised"),
    alternatives: [{ label: "classic sizing", key: fewPathsRate("classic") }],
  },
  claim("create a snapshot", ["snapshot-images-node24", "create"], {
    "zstd -3 -T2": "`zstd -3 -T2`",
  }),
  claim("restore a snapshot, every byte verified", ["snapshot-images-node24", "restore"], {
    "zstd -d --sparse of a snapshot": "`zstd -d` of the snapshot",
    "zstd -d --sparse": "`zstd -d` of a `zstd -3` file",
  }),
  claim("decode a MiB and verify its digest", ["snapshot-codec", "decode 1 MiB"], {
    "Node's own zstd": "Node’s native zstd, no digest",
    "ruzstd in wasm": "`ruzstd` in WebAssembly, no digest",
  }),
  claim("size of a snapshot", ["snapshot-size", "the file of a snapshot"], {
    "zstd -3, frames of 1 MiB": "`zstd -3`, frames of 1 MiB",
    "zstd -3, one frame": "`zstd -3`, one frame",
  }),
  claim(
    "restore, 90 MB/s a connection, 30 ms to the first byte",
    [RESTORE, "90 MB/s, 30 ms", NODE_24],
    RESTORED,
  ),
  claim(
    "restore, 50 MB/s, 30 ms, 1 % of responses cut off",
    [RESTORE, "50 MB/s, 30 ms, 1 % cut", NODE_24],
    RESTORED,
  ),
  claim("restore over loopback", [RESTORE, "loopback", NODE_24], RESTORED),
  ...["64 MiB", "256 MiB", "1 GiB", "4 GiB", "8 GiB"].map((size) =>
    claim(`a hit, an image of ${size}`, ["cache-node20, hits", size], {
      "open of a file, then close": "`open` and `close` of a file",
      "SHA-256 of the file": "SHA-256 of the file",
    }),
  ),
  claim("create a delta, 1 % changed, XFS", ["delta-node20, create", "1 %"], {
    desync: "`desync make`",
    qcow2: "`qemu-img`, an overlay",
  }),
  claim("size of a delta, 1 % changed", ["delta-node20, size", "1 %"], {
    desync: "`desync`, new chunks",
    qcow2: "a qcow2 overlay",
  }),
  claim("restore a delta, its base in the cache, XFS", ["delta-node20, restore", "1 %"], {
    desync: "`desync` with a seed",
    qcow2: "`qemu-img commit`",
  }),
  claim("first byte of a disk of 4 GiB", ["disk-node24, first byte", "4 GiB"], {
    "full restore": "a full restore",
    "curl | zstd -d": "`curl \\| zstd -d`",
  }),
  claim("mount a snapshot and read files", ["disk-node24, mount", "files read"], {
    "full restore": "a full restore, then the same",
  }),
  claim("boot from a disk with a trace", ["disk-node24, boot, done", "90 MB/s, 30 ms"], {
    "full restore": "a full restore, then the same",
    "local file": "from a local file",
  }),
  claim("fill a disk", ["disk-node24, fill", "90 MB/s, 30 ms"], {
    "full restore": "a full restore",
  }),
  ...["nothing cached", "base cached"].map((workload) =>
    claim(`attach a stopped disk, ${workload}`, ["store-node24, attach", workload], PERSISTENCE),
  ),
  claim(
    "save a disk into a store, 1 % changed",
    ["store-node24, save", "1 % changed"],
    PERSISTENCE,
  ),
  claim("attach 32 forks and read them", ["store-node24, forks", "32 forks"], {
    qcow2: "`qemu-img create` and `qemu-nbd`",
  }),
  ...[
    ["hits of a fleet of 64 hosts, Zipf’s law", "hit rate", "zipf-0.9, 64 hosts"],
    ["load of its busiest host over the mean", "maximum over mean load", "zipf-0.9, 64 hosts"],
    ["bytes that it fetches from the store", "bytes from the origin", "zipf-0.9, 64 hosts"],
    ["a decision for 1,000 hosts", "decision", "1000 hosts"],
  ].map(([label = "", quantity = "", workload = ""]) =>
    claim(label, [`fleet-node24, ${quantity}`, workload], PLACEMENT),
  ),
  claim(
    "bytes that 20 hosts fetch at once, over one snapshot",
    [BYTES_SENT, "20 hosts at once", "through nginx, cold"],
    { "directly from the store": "directly from the store" },
  ),
  ...["depth 1", "depth 32"].map((depth) =>
    claim(
      `random reads of a filled disk, ${depth}`,
      ["disk-node24, random reads", depth],
      NBD_SERVERS,
    ),
  ),
  ...["nbdcopy", "qemu-img convert"].map((program) =>
    claim(`\`${program}\` of a filled disk`, ["disk-node24, copy", program], NBD_SERVERS),
  ),
  claim("a copy of 4 GiB, XFS", ["cache-node20, copies on XFS", "4 GiB"], {
    "cp --reflink=always": "`cp --reflink=always`",
  }),
  claim("a copy of 1 GiB, ext4", ["cache-node20, copies", "1 GiB"], SPARSE),
  claim("a copy of 4 GiB, ext4", ["cache-node20, copies", "4 GiB"], {
    ...SPARSE,
    "cp --reflink=auto": "`cp --reflink=auto`",
  }),
  claim(
    "hits, a quarter of the bytes, Zipf’s law",
    ["cache-node20, hit rate", "Zipf, exponent 1, 25 % of the bytes"],
    {
      "lru-cache, by bytes": "`lru-cache`, by bytes",
      "lru-cache, as many as fit on average": "`lru-cache`, by count",
      "first in, first out": "first in, first out",
    },
  ),
];

/**
 * The results for a claim: its own, those of its alternatives with the ratio to it, and the names of missing ones.
 *
 * @param {Claim} claim
 * @param {(...key: Key) => Result | undefined} find
 */
export function outcomeOf({ label, key, alternatives }, find) {
  const own = find(...key);
  const measured = alternatives.map((one) => {
    const result = find(...one.key);
    const times = (result?.median ?? Number.NaN) / (own?.median ?? Number.NaN);
    return { ...one, result, times };
  });
  const missing = [
    ...(own === undefined ? [`${label} (${key.join(" | ")})`] : []),
    ...measured
      .filter(({ result }) => result === undefined)
      .map((one) => `${label}, compared with ${one.label} (${one.key.join(" | ")})`),
  ];
  return { own, alternatives: measured, missing };
}
