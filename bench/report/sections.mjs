// The questions of docs/benchmarks.md: the finding, the chart and the tables of each.

/** @typedef {import("./tables.mjs").Table} Table */

/**
 * Reads figures for a finding: our figure at a workload, and the ratio of other methods to it.
 *
 * @typedef {(suite: string, workload: string, ours?: string) => { ours: string, times: (method: string) => string }} At
 */

/**
 * A group of bars: the methods of a workload.
 *
 * @typedef {{ title?: string, suite: string, workload: string, ours?: string, more?: boolean }} Group
 */

/**
 * @typedef {object} Chart
 * @property {string} title
 * @property {string[]} lines below the title
 * @property {string} axis the quantity and its unit
 * @property {number} [divide] converts figures to a larger unit
 * @property {boolean} [log] whether the axis is logarithmic
 * @property {Group[]} groups
 * @property {string[]} methods besides ours, as far as they were measured
 */

/**
 * @typedef {object} Section
 * @property {string} name of its chart and of its place in the page
 * @property {string} question its heading in the page of tables
 * @property {(at: At) => string} finding
 * @property {Chart} chart
 * @property {Table[]} tables
 */

const FAST = "90 MB/s, 30 ms";
const PLAIN = /^[^:]*$/;
const RESTORE = "snapshot-restore-node20";
const RESTORE_ON_24 = { suite: RESTORE, ours: "hedgerow, Node 24" };
const POLICIES = ["random", "consistent hashing", "bounded loads", "least loaded", "ImageLocality"];
const SENT = "fleet-node24, bytes from the store over one snapshot";
const COLD = "through nginx, cold";
const SITE = "24441 paths";
const HALF_ABSENT = "60 bytes, half of them absent";

/** Returns a group for each workload. @param {string} suite @param {string[]} workloads @param {Partial<Group>} [rest] */
const groupsOf = (suite, workloads, rest) =>
  workloads.map((workload) => ({ suite, workload, ...rest }));

/** @type {Section[]} */
export const SECTIONS = [
  {
    name: "stripping",
    question: "Stripping a request",
    finding: (at) => {
      const native = at("headers-clear", "real");
      const node = at("headers-node24-raw", "real");
      const [few, many] = ["10 rules", "10000 rules"].map((n) => at("headers-growth-lookup", n));
      return `A request of 20 fields takes **${native.ours}** in Rust, where \`trie-hard\` takes
        ${native.times("trie-hard")} as long, and **${node.ours}** with \`stripRaw\` on Node 24, where a
        hand-written lookup table takes ${node.times("plain-table")}. A lookup takes ${few?.ours} among 10
        rules and ${many?.ours} among 10,000.`;
    },
    chart: {
      title: "Strip an http::HeaderMap, native",
      lines: ["120 rules, three workloads, criterion."],
      axis: "time of a request, ns",
      log: true,
      groups: groupsOf("headers-clear", ["real", "uniform", "near"]),
      methods: ["hashmap-foldhash", "phf", "aho-corasick", "trie-hard", "regex", "loop"],
    },
    tables: [
      { title: "Rust, a request", suite: "headers-clear" },
      { title: "Rust, a name", suite: "headers-lookup" },
      { title: "Rust, a name, by rules", suite: "headers-growth-lookup" },
      ...["node20", "node24", "workerd", "bun", "deno"].map((engine) => ({
        ...{ title: `\`stripRaw\`, ${engine}`, suite: `headers-${engine}-raw` },
      })),
      ...["node20", "node24"].map((engine) => ({
        ...{ title: `\`stripRaw\`, ${engine}, random rules`, suite: `headers-${engine}-seeded` },
      })),
      { title: "`stripRaw`, node24, by rules", suite: "headers-node24-growth" },
      ...["node24", "workerd"].flatMap((engine) => [
        { title: `\`strip(Headers)\`, ${engine}`, suite: `headers-${engine}-headers` },
        { title: `\`stripBlock\`, ${engine}`, suite: `headers-${engine}-block` },
      ]),
    ],
  },
  {
    name: "loading",
    question: "Loading and building a filter",
    finding: (at) => {
      const load = at("paths-node24-load", SITE);
      const build = at("paths-build", "1600000");
      return `Loading a filter of 24,441 paths and querying it once takes **${load.ours}** on Node 24;
        \`JSON.parse\` and a \`Set\` take ${load.times("JSON.parse + Set")} as long. The file is
        ${at("paths-node24-size", SITE).ours}, a JSON array ${at("paths-node24-size", SITE).times("json")}
        as much. Building a filter of 1.6 million paths takes ${build.ours} a path in Rust, and with
        \`fastbloom\` ${build.times("fastbloom")} as long.`;
    },
    chart: {
      title: "Load 24,441 paths, query one",
      lines: ["Node 24."],
      axis: "time, µs",
      divide: 1000,
      log: true,
      groups: groupsOf("paths-node24-load", [SITE]),
      methods: ["hedgerow, trusted", "plain JS reader", "JSON.parse + Set", "JSON tree, parsed"],
    },
    tables: [
      { title: "Load and query once, Node 24", suite: "paths-node24-load" },
      { title: "File", suite: "paths-node24-size" },
      { title: "Build, Rust, a path", suite: "paths-build" },
      { title: "Build, Node 24, a path", suite: "paths-node24-build" },
    ],
  },
  {
    name: "querying",
    question: "Querying a filter",
    finding: (at) => {
      const node = at("paths-node24-has", HALF_ABSENT);
      const native = at("paths-query", "20k mixed");
      const fuse = at("paths-query", "20k mixed", "hedgerow-fuse");
      const size = at("paths-node24-size", SITE);
      const fuseSize = at("paths-node24-size", SITE, "hedgerow, fuse");
      return `A query takes **${node.ours}** on Node 24, where \`Set.has\` takes ${node.times("Set.has")} as
        long, and **${native.ours}** in Rust, where \`fastbloom\` takes ${native.times("fastbloom")} and a
        \`HashSet\` ${native.times("hashset-foldhash")}. A fuse filter takes **${fuse.ours}** in Rust, where a
        \`HashSet\` takes ${fuse.times("hashset-foldhash")}. A Bloom filter of 24,441 paths takes
        ${size.ours} of memory, and a fuse filter ${fuseSize.ours}; a \`HashSet\` holds the paths themselves, which
        as a JSON array take ${size.times("json")} as much as the Bloom filter.`;
    },
    chart: {
      title: "Query a path, native",
      lines: ["Of 20,000 or 1.6 million paths, p = 1e-7, criterion."],
      axis: "time of a path, ns",
      groups: groupsOf("paths-query", ["20k mixed", "1600k mixed"]),
      methods: [
        ...["hedgerow-fuse", "fastbloom", "fastbloom-foldhash", "bloomfilter"],
        ...["hashset-siphash", "hashset-foldhash"],
      ],
    },
    tables: [
      { title: "Rust", suite: "paths-query" },
      { title: "Node 24", suite: "paths-node24-has" },
    ],
  },
  {
    name: "false-positives",
    question: "False positives",
    finding: (at) => {
      const few = at("paths-false-positives", "p = 1e-7, 10 paths");
      const many = at("paths-false-positives", "p = 1e-7, 1000000 paths");
      return `At p = 1e-7, the measured rate is **${few.ours}** the requested one for ten paths and
        **${many.ours}** for a million. For ten paths, \`bloomfilter\` has ${few.times("bloomfilter")} as many
        false positives.`;
    },
    chart: {
      title: "False positives over the requested rate",
      lines: ["p = 1e-7; groups: number of paths. 1 is the requested rate."],
      axis: "measured rate / p",
      log: true,
      groups: ["10", "1000", "10000", "1000000"].map((count) => ({
        title: `${Number(count).toLocaleString("en")} paths`,
        suite: "paths-false-positives",
        workload: `p = 1e-7, ${count} paths`,
      })),
      methods: ["fastbloom", "bloomfilter", "classic"],
    },
    tables: ["0.01", "0.0001", "1e-7"].map((rate) => ({
      title: "Measured rate / p",
      suite: "paths-false-positives",
      workloads: new RegExp(`^p = ${rate},`),
    })),
  },
  {
    name: "restoring",
    question: "Restoring an image from a server",
    finding: (at) => {
      const fast = at(RESTORE, FAST, "hedgerow, Node 24");
      const loopback = at(RESTORE, "loopback", "hedgerow, Node 24");
      const connections = at(RESTORE, `${FAST}: connections`);
      return `An image of 4 GiB is restored in **${fast.ours}** over connections of 90 MB/s, where
        \`curl | zstd -d\` takes ${fast.times("curl | zstd -d")} as long and a download over 16 connections, then
        \`zstd -d\`, ${fast.times("aria2c -x 16, then zstd -d")}. On loopback it takes **${loopback.ours}**, and
        \`curl | zstd -d\` ${loopback.times("curl | zstd -d")} as long. One connection instead of an adaptive
        number takes ${connections.times("1 connection")} as long, and one worker
        ${at(RESTORE, `${FAST}: workers`).times("1 worker")}.`;
    },
    chart: {
      title: "Restore an image from a server",
      lines: ["Two cores, which the server shares."],
      axis: "time, s",
      divide: 1000,
      groups: ["loopback", FAST, "50 MB/s, 30 ms, 1 % cut"].map((workload) => ({
        ...{ ...RESTORE_ON_24, workload },
      })),
      methods: [
        ...["aria2c -x 16, then zstd -d", "curl | zstd -d", "desync -n 64, quick retries"],
        "fetch, zlib, holes, Node 24",
      ],
    },
    tables: [
      { title: "Restore", ...RESTORE_ON_24, workloads: PLAIN },
      { title: "Workers", suite: RESTORE, workloads: /: workers$/ },
      { title: "Connections", suite: RESTORE, workloads: /: connections$/ },
      { title: "Size of a part", suite: RESTORE, workloads: /: part size$/ },
      { title: "Peak memory", suite: `${RESTORE}, peak memory`, workloads: PLAIN },
    ],
  },
  {
    name: "codec",
    question: "The codec and whole images",
    finding: (at) => {
      const decode = at("snapshot-codec", "decode 1 MiB");
      const restore = at("snapshot-images-node24", "restore");
      return `Decoding a MiB and verifying its digest takes **${decode.ours}** in WebAssembly; Node’s native
        zstd takes ${decode.times("Node's own zstd")} as long, without a digest. With two workers, an image is
        restored in memory in **${restore.ours}**, and by \`zstd -d\` in
        ${restore.times("zstd -d --sparse")} that time.`;
    },
    chart: {
      title: "Create a snapshot and restore it",
      lines: ["Two workers on two cores, in memory, Node 24."],
      axis: "time, ms",
      groups: groupsOf("snapshot-images-node24", ["create", "restore"]),
      methods: ["hedgerow, 1 worker", "zstd -3 -T2", "zstd -d --sparse"],
    },
    tables: [
      { title: "A frame of 1 MiB", suite: "snapshot-codec" },
      { title: "Whole images", suite: "snapshot-images-node24" },
      { title: "Size", suite: "snapshot-size" },
    ],
  },
  {
    name: "copies",
    question: "Hits and copies of the cache",
    finding: (at) => {
      const hit = at("cache-node20, hits", "8 GiB");
      const ext4 = at("cache-node20, copies", "4 GiB");
      return `A hit takes ${at("cache-node20, hits", "64 MiB").ours} for an image of 64 MiB and **${hit.ours}** for
        one of 8 GiB. A copy of 4 GiB takes
        **${at("cache-node20, copies on XFS", "4 GiB").ours}** on XFS, which shares the blocks, and
        ${ext4.ours} on ext4, where \`cp --sparse=always\` takes ${ext4.times("cp --sparse=always")} as long.`;
    },
    chart: {
      title: "Copy an image out of the cache",
      lines: ["ext4 copies the bytes; XFS shares the blocks."],
      axis: "time, ms",
      log: true,
      groups: [
        ...["64 MiB", "1 GiB", "4 GiB", "8 GiB"].map((size) => ({
          ...{ title: `ext4, ${size}`, suite: "cache-node20, copies", workload: size },
        })),
        { title: "XFS, 8 GiB", suite: "cache-node20, copies on XFS", workload: "8 GiB" },
      ],
      methods: ["cp --sparse=always", "cp --reflink=auto", "cp --reflink=always"],
    },
    tables: [
      { title: "Hit", suite: "cache-node20, hits" },
      { title: "Copy, ext4", suite: "cache-node20, copies" },
      { title: "Copy, XFS", suite: "cache-node20, copies on XFS" },
    ],
  },
  {
    name: "hit-rates",
    question: "Hit rates",
    finding: (at) => {
      const quarter = at("cache-node20, hit rate", "Zipf, exponent 1, 25 % of the bytes");
      return `Of requests that follow Zipf’s law, **${quarter.ours}** are hits in a cache that holds a quarter
        of the bytes. \`lru-cache\` by bytes has ${quarter.times("lru-cache, by bytes")} as many, and a queue
        (first in, first out) ${quarter.times("first in, first out")}.`;
    },
    chart: {
      title: "Hits, by size of the cache",
      lines: ["Zipf’s law, exponent 1. Groups: share of all bytes.", "More is better."],
      axis: "requests that are hits, %",
      groups: [5, 10, 25, 50].map((share) => ({
        title: `a cache of ${share} %`,
        suite: "cache-node20, hit rate",
        workload: `Zipf, exponent 1, ${share} % of the bytes`,
        more: true,
      })),
      methods: [
        ...["lru-cache, by bytes", "first in, first out"],
        ...["lru-cache, as many as fit on average", "lru-cache, as many as fit at worst"],
      ],
    },
    tables: ["Zipf, exponent 0.8", "Zipf, exponent 1", "Zipf, exponent 1.2", "8 base"].map(
      (trace) => ({
        title: "Hits",
        suite: "cache-node20, hit rate",
        workloads: new RegExp(`^${trace}[, ]`),
        more: true,
      }),
    ),
  },
  {
    name: "changes",
    question: "Deltas",
    finding: (at) => {
      const create = at("delta-node20, create", "1 %");
      const size = at("delta-node20, size", "1 %");
      const restore = at("delta-node20, restore", "1 %");
      return `If 1 % of an image of 4 GiB changed, creating a delta on XFS takes **${create.ours}**, and a full
        snapshot ${create.times("hedgerow, full")} as long. The delta is **${size.ours}**, a full snapshot
        ${size.times("hedgerow, full")} as much. Restoring it with its base in the cache takes
        **${restore.ours}**, and a full snapshot ${restore.times("hedgerow, full")} as long.`;
    },
    chart: {
      title: "Create a snapshot, by share of the data changed",
      lines: ["An ext4 image of 4 GiB, Node 20."],
      axis: "time, s",
      divide: 1000,
      log: true,
      groups: groupsOf("delta-node20, create", ["0.1 %", "1 %", "10 %", "100 %"]),
      methods: ["hedgerow, ext4", "hedgerow, full", "desync", "qcow2"],
    },
    tables: [
      { title: "Create", suite: "delta-node20, create" },
      { title: "Size", suite: "delta-node20, size" },
      { title: "Restore to XFS", suite: "delta-node20, restore" },
      { title: "Restore to ext4", suite: "delta-node20, restore to ext4" },
      { title: "Restore, 8 base objects", suite: "delta-node20, restore a chain" },
    ],
  },
  {
    name: "images",
    question: "A disk of a container image",
    finding: (at) => {
      const snapshot = at("image-node24", "snapshot");
      const layer = at("image-node24, a new layer", "delta");
      return `A snapshot of a container image of 1 GB in 8 layers takes **${snapshot.ours}**. By hand, with \`umoci\`,
        \`mke2fs\` and \`zstd\`, it takes ${snapshot.times("umoci, mke2fs, zstd")} as long. The delta of a new
        layer is **${layer.ours}**: \`zstd -3\` of the layer has ${layer.times("zstd -3 of the layer")} as many bytes, and a
        delta between two images made apart ${layer.times("two images")}.`;
    },
    chart: {
      title: "Make a snapshot of a container image",
      lines: ["1 GB in 8 layers; in memory, Node 24."],
      axis: "time, s",
      divide: 1000,
      groups: [{ suite: "image-node24", workload: "snapshot" }],
      methods: ["umoci, mke2fs, zstd"],
    },
    tables: [
      { title: "Snapshot of 8 layers", suite: "image-node24" },
      { title: "Delta of a new layer", suite: "image-node24, a new layer" },
    ],
  },
  {
    name: "disks",
    question: "Opening a disk",
    finding: (at) => {
      const large = at("disk-node24, first byte", "16 GiB");
      const mount = at("disk-node24, mount", "files read");
      return `The first byte of a disk is there after **${large.ours}** for an image of 16 GiB, and after
        ${at("disk-node24, first byte", "0.8 GiB").ours} for one of 0.8 GiB; a full restore of 16 GiB takes
        ${large.times("full restore")} as long. Mounting an image of 4 GiB with a trace and reading 300 files
        takes **${mount.ours}**, and ${mount.times("full restore")} that after a full restore.`;
    },
    chart: {
      title: "Until the first byte, by size of the image",
      lines: [`${FAST} to the first byte, Node 24.`],
      axis: "time, ms",
      log: true,
      groups: groupsOf("disk-node24, first byte", ["0.8 GiB", "2 GiB", "4 GiB", "8 GiB", "16 GiB"]),
      methods: ["full restore", "curl | zstd -d"],
    },
    tables: [
      { title: "First byte", suite: "disk-node24, first byte" },
      { title: "`disk mount`", suite: "disk-node24, mount" },
    ],
  },
  {
    name: "boots",
    question: "Booting from a disk",
    finding: (at) => {
      const done = at("disk-node24, boot, done", FAST);
      return `A virtual machine that boots from a disk with a trace has run its programs after **${done.ours}**.
        From a local file that takes ${done.times("local file")} as long, without a trace
        ${done.times("hedgerow, no trace")}, after a full restore ${done.times("full restore")}, and with
        \`nbdkit curl\`, which fetches blocks on demand, ${done.times("nbdkit curl")}.`;
    },
    chart: {
      title: "Boot a virtual machine and run programs",
      lines: ["From the start of everything;", `${FAST} to the first byte.`],
      axis: "time, s",
      divide: 1000,
      groups: ["served", "shell", "done"].map((milestone) => ({
        title: milestone === "served" ? "disk served" : milestone,
        suite: `disk-node24, boot, ${milestone}`,
        workload: FAST,
      })),
      methods: [
        ...["hedgerow, no trace", "hedgerow, on demand", "full restore", "nbdkit curl"],
        ...["qcow2 over HTTP", "local file"],
      ],
    },
    tables: [
      ...["served", "shell", "done", "fetched"].map((milestone) => ({
        title: `Boot, ${milestone}`,
        suite: `disk-node24, boot, ${milestone}`,
      })),
      { title: "Reads of a boot, by size of a piece", suite: "disk-node24, replay" },
      { title: "Wait of a reader, median", suite: "disk-node24, wait, median" },
      { title: "Wait of a reader, 99th percentile", suite: "disk-node24, wait, p99" },
    ],
  },
  {
    name: "filled-disks",
    question: "A filled disk",
    finding: (at) => {
      const one = at("disk-node24, random reads", "depth 1");
      const many = at("disk-node24, random reads", "depth 32");
      const fill = at("disk-node24, fill", FAST);
      return `A filled disk answers **${one.ours}** a second of 4 KiB at depth 1 and **${many.ours}** at depth 32;
        \`qemu-nbd\` answers ${one.times("qemu-nbd")} and ${many.times("qemu-nbd")} as many. Filling an image of
        4 GiB takes ${fill.ours}, and a full restore ${fill.times("full restore")} as long.`;
    },
    chart: {
      title: "Random reads of a filled disk over NBD",
      lines: ["4 KiB each, by fio; more is better."],
      axis: "thousand reads a second",
      divide: 1000,
      groups: groupsOf("disk-node24, random reads", ["depth 1", "depth 32"], { more: true }),
      methods: ["qemu-nbd", "nbdkit"],
    },
    tables: [
      { title: "Random reads", suite: "disk-node24, random reads", more: true },
      { title: "Random reads in a guest", suite: "disk-node24, guest reads", more: true },
      { title: "Copy to nowhere", suite: "disk-node24, copy" },
      { title: "Fill", suite: "disk-node24, fill" },
      { title: "`nbdcopy` during the fill", suite: "disk-node24, copy while filling" },
      { title: "Save 20 MB of writes", suite: "disk-node24, save" },
    ],
  },
  {
    name: "persistence",
    question: "Stopping a disk, and resuming it elsewhere",
    finding: (at) => {
      const attach = at("store-node24, attach", "nothing cached");
      const save = at("store-node24, save", "1 % changed");
      return `Attaching a stopped disk of 4 GiB from an object store takes **${attach.ours}** until a byte of it
        was read, and with \`qemu-img\` and \`curl\` ${attach.times("qcow2")} as long. Saving it takes
        **${save.ours}** if 1 % of its data changed, and ${save.times("qcow2")} as long with these; writes wait
        for ${at("store-node24, save, pause", "1 % changed").ours} of it. 32 forks of a cached base are attached
        and read in ${at("store-node24, forks", "32 forks").ours}, and a store of 100,000 snapshots is collected
        in ${at("store-node24, collect", "100,000 snapshots").ours}.`;
    },
    chart: {
      title: "Stop a disk, and resume it elsewhere",
      lines: ["An ext4 image of 4 GiB, 90 MB/s a connection, 30 ms to the first byte, Node 24."],
      axis: "time, s",
      divide: 1000,
      log: true,
      groups: [
        { title: "save, 1 % changed", suite: "store-node24, save", workload: "1 % changed" },
        ...["nothing cached", "base cached"].map((workload) => ({
          ...{ title: `attach, ${workload}`, suite: "store-node24, attach", workload },
        })),
      ],
      methods: ["qcow2", "desync"],
    },
    tables: [
      { title: "Attach, until a byte was read", suite: "store-node24, attach" },
      { title: "Save", suite: "store-node24, save" },
      { title: "Size of a save", suite: "store-node24, save, size" },
      { title: "Attach and read forks", suite: "store-node24, forks" },
      { title: "Collect", suite: "store-node24, collect" },
      { title: "Services: a snapshot of 87 MB", suite: "store-node24, services" },
    ],
  },
  {
    name: "running",
    question: "Resuming a running sandbox",
    finding: (at) => {
      const resume = at("running-node24, resume", "nothing cached");
      const bytes = at("running-node24, checkpoint, bytes", "20 MiB changed");
      const touch = at("running-node24, touch", "all used memory");
      const forks = at("running-node24, forks", "16 at once");
      return `A sandbox with 1 GiB of memory answers **${resume.ours}** after it is asked to resume on a host that has
        nothing of it. From local files that takes ${resume.times("local file")} as long, with pulled images
        ${resume.times("hedgerow, pulled")}, on the host that suspended and then pulled it
        ${resume.times("hedgerow, same host")}, without a trace ${resume.times("hedgerow, no trace")}, after a full
        restore ${resume.times("full restore")}, and a boot takes ${resume.times("boot")}. Suspending it takes
        ${at("running-node24, suspend", "in use, filled").ours}. A checkpoint stops it for
        ${at("running-node24, checkpoint, pause", "20 MiB changed").ours} and uploads ${bytes.ours} if 20 MiB changed;
        the changed pages have ${bytes.times("zstd -3 of the changed pages")} as many bytes, compressed. Reading all
        used memory takes ${touch.times("local file")} as long from a local file. 16 forks answer in
        ${forks.ours}, one in ${forks.times("one fork")} of that, and 16 boots in ${forks.times("boots")}.`;
    },
    chart: {
      title: "Resume a sandbox, until it answers",
      lines: [`1 GiB of memory, 400 MiB in use; ${FAST}.`],
      axis: "time, s",
      divide: 1000,
      groups: [{ suite: "running-node24, resume", workload: "nothing cached" }],
      methods: [
        ...["hedgerow, same host", "hedgerow, pulled", "hedgerow, no trace", "full restore"],
        ...["boot", "local file"],
      ],
    },
    tables: [
      { title: "Resume, until it answers", suite: "running-node24, resume" },
      { title: "Read all used memory", suite: "running-node24, touch" },
      { title: "Suspend", suite: "running-node24, suspend" },
      { title: "Pause of a checkpoint", suite: "running-node24, checkpoint, pause" },
      { title: "Bytes of a checkpoint", suite: "running-node24, checkpoint, bytes" },
      { title: "Forks, until all answer", suite: "running-node24, forks" },
    ],
  },
  {
    name: "fleet-hits",
    question: "Placement in a fleet",
    finding: (at) => {
      const hits = at("fleet-node24, hit rate", "zipf-0.9, 64 hosts");
      const load = at("fleet-node24, maximum over mean load", "zipf-0.9, 64 hosts");
      const sent = at(SENT, "20 hosts at once", COLD);
      return `Of 100,000 simulated starts on 64 hosts, **${hits.ours}** are hits, and the busiest host has
        **${load.ours}** the mean load. Random placement has ${hits.times("random")} as many hits; consistent
        hashing has ${hits.times("consistent hashing")} as many, and ${load.times("consistent hashing")} the load
        on its busiest host. A decision for 1,000 hosts takes
        ${at("fleet-node24, decision", "1000 hosts").ours}. When 20 hosts restore the same snapshot at once through
        nginx, the store sends **${sent.ours}** its bytes; without nginx,
        ${sent.times("directly from the store")} that.`;
    },
    chart: {
      title: "Starts that find their image",
      lines: [
        "64 hosts, 20 sandboxes a host.",
        "Caches of a fifth of 1,000 images. More is better.",
      ],
      axis: "starts that are hits, %",
      groups: groupsOf(
        "fleet-node24, hit rate",
        ["zipf-0.7, 64 hosts", "zipf-0.9, 64 hosts", "zipf-1.1, 64 hosts"],
        { more: true },
      ),
      methods: POLICIES,
    },
    tables: [
      { title: "Hits", suite: "fleet-node24, hit rate", more: true },
      { title: "Busiest host over the mean", suite: "fleet-node24, maximum over mean load" },
      { title: "From the store", suite: "fleet-node24, bytes from the origin" },
      { title: "Decision", suite: "fleet-node24, decision" },
      { title: "From the store over one snapshot", suite: SENT, ours: COLD },
      { title: "Slowest host", suite: "fleet-node24, slowest host", ours: COLD },
    ],
  },
  {
    name: "adapters",
    question: "Adapters",
    finding: (at) => {
      const over = (/** @type {string} */ framework) =>
        at("adapters-node24, processor time over bare", framework, "headers").ours;
      return `Stripping headers both ways takes **${over("node:http")}** the processor time of \`node:http\` alone,
        ${over("express")} that of Express, ${over("fastify")} of Fastify, ${over("hono")} of Hono and
        ${over("undici")} of undici.`;
    },
    chart: {
      title: "Processor time of a request, Node 24",
      lines: ["20 fields, 120 rules; undici: time of the client."],
      axis: "processor time of a request, µs",
      groups: groupsOf(
        "adapters-node24, processor time",
        ["node:http", "express", "fastify", "hono", "undici"],
        { ours: "headers" },
      ),
      methods: ["headers and paths", "set", "nothing", "bare"],
    },
    tables: ["processor time", "requests a second", "p99"].map((quantity) => ({
      title: quantity,
      suite: `adapters-node24, ${quantity}`,
      ours: "headers",
      more: quantity === "requests a second",
    })),
  },
  {
    name: "start",
    question: "The first use in a process",
    finding: (at) => {
      const bundled = at("start-node24", "bundled");
      return `The first use in a process takes **${bundled.ours}** on Node 24 when bundled; \`xxhash-wasm\` takes
        ${bundled.times("xxhash-wasm")} as long and \`es-module-lexer\`
        ${bundled.times("es-module-lexer")}.`;
    },
    chart: {
      title: "The first use in a process, Node 24",
      lines: ["Import, compilation and the first calls."],
      axis: "time, ms",
      groups: groupsOf("start-node24", ["as installed", "as installed, after another", "bundled"]),
      methods: ["xxhash-wasm", "es-module-lexer", "nothing"],
    },
    tables: [
      ...[20, 24].map((version) => ({
        ...{ title: `Node ${version}`, suite: `start-node${version}` },
      })),
      { title: "workerd", suite: "start-workerd" },
    ],
  },
];
