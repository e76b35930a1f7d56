/** The commands of `hedgerow cache`, on caches that programs use at the same time. */
import { createHash, randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createSnapshot, ImageCache } from "@hedgerow/snapshot";
import { describe, expect, onTestFinished, test } from "vitest";
import { startOrigin } from "../../../tests/origin/origin.mjs";
import { filesIn, imageIn } from "../../snapshot/test/support/cache.js";
import { hedgerow, hedgerowProcess } from "./support/bin.js";
import { SMALL } from "./support/images.js";
import { makeTree } from "./support/tree.js";

const MIB = 2 ** 20;

const cache = (...args: string[]) => hedgerow(["cache", ...args]);
const cacheProcess = (...args: string[]) => hedgerowProcess(["cache", ...args]);

/** Runs a command with `--json`, checks its exit code, and returns its output. */
async function json(args: string[], code = 0): Promise<Record<string, unknown>> {
  const found = await hedgerow([...args, "--json"]);
  expect(found, args.join(" ")).toMatchObject({ code, err: "" });
  expect(found.out).toMatch(/^\{.*\}\n$/);
  return JSON.parse(found.out);
}

/** Makes snapshots of images of 1 MiB, and a cache that contains these images, the last one used last. */
async function filled(names: readonly string[]) {
  const root = makeTree();
  const directory = join(root, "cache");
  const open = await ImageCache.open(directory, { maxBytes: 64 * MIB });
  onTestFinished(() => open.close());
  const digests: string[] = [];
  for (const name of names) {
    const [image, snapshot] = [join(root, `${name}.img`), join(root, `${name}.vhs`)];
    writeFileSync(image, randomBytes(MIB));
    await createSnapshot(image, snapshot, { workers: 1 });
    const got = await open.get(snapshot);
    digests.push(got.info.digest);
    await got.release();
  }
  return { root, directory, open, digests };
}

/** Returns a digest of the names and contents of all files in a directory. */
function contentOf(directory: string): string {
  const hash = createHash("sha256");
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    hash.update(`${entry.name}\n`);
    if (entry.isFile()) hash.update(readFileSync(join(directory, entry.name)));
  }
  return hash.digest("hex");
}

describe("hedgerow cache", () => {
  test("lists images, the most recently used first", async () => {
    const { root, directory, open, digests } = await filled(["one", "two"]);
    const [one, two] = digests as [string, string];
    const { code, out, err } = await cacheProcess("list", directory);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const [head, ...rows] = out.trimEnd().split("\n");
    expect(head).toMatch(/^identity +on disk +image size +last used +source$/);
    const row = (digest: string, name: string) =>
      new RegExp(
        `^${digest.slice(0, 12)}  1\\.05 MB  1\\.05 MB +\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC  ${join(root, name)}$`,
      );
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatch(row(two, "two.vhs"));
    expect(rows[1]).toMatch(row(one, "one.vhs"));
    const entries = await open.entries();
    expect(await json(["cache", "list", directory])).toEqual(
      JSON.parse(JSON.stringify({ entries })),
    );
    expect(entries.map(({ digest }) => digest)).toEqual([two, one]);
  });

  test("prints the disk usage and the counters", async () => {
    const { root, directory, open, digests } = await filled(["one"]);
    const [digest = ""] = digests;
    for (let times = 0; times < 3; times += 1) {
      await (await open.get(join(root, "one.vhs"), { digest })).release();
    }
    const { bytes } = await open.stats();
    await open.close();
    const { code, out } = await cacheProcess("stats", directory);
    expect(code).toBe(0);
    for (const row of [
      /^images +1$/m,
      /^on disk +\d\.\d+ MB \(\d,\d{3},\d{3} bytes\)$/m,
      /^hits +3 \(75\.0 %\)$/m,
      /^misses +1$/m,
      /^fills +1 \(0 failed\)$/m,
      /^evictions +0$/m,
      /^damaged +0$/m,
    ]) {
      expect(out).toMatch(row);
    }
    const counts = { hits: 3, misses: 1, fills: 1, failures: 0, evictions: 0, damaged: 0 };
    const found = await json(["cache", "stats", directory]);
    expect(found).toEqual({ entries: 1, bytes, ...counts });
  });

  test("prunes the least recently used images", async () => {
    const { directory, digests } = await filled(["one", "two", "three"]);
    const pruned = await json(["cache", "prune", directory, "--max-bytes", "2 MiB"]);
    expect(pruned).toEqual({
      images: 2,
      bytes: expect.any(Number),
      left: expect.any(Number),
    });
    expect(pruned.bytes).toBeGreaterThan(2 * MIB);
    expect(pruned.left).toBeLessThanOrEqual(2 * MIB);
    // A cache that takes exactly the limit is left alone.
    const { left } = pruned;
    const again = await json(["cache", "prune", directory, "--max-bytes", String(left)]);
    expect(again).toEqual({ images: 0, bytes: 0, left });
    expect(existsSync(imageIn(directory, digests[2]!))).toBe(true);
    const { code, out } = await cacheProcess("prune", directory, "--max-bytes", "0");
    expect(code).toBe(0);
    expect(out).toMatch(
      /^evicted images {2}1\nevicted size +1\.05 MB \([\d,]+ bytes\)\nleft on disk +\d+ kB \([\d,]+ bytes\)\n$/,
    );
    expect(await json(["cache", "list", directory])).toEqual({ entries: [] });
    expect(await json(["cache", "stats", directory])).toMatchObject({ evictions: 3 });
  });

  test("keeps images that a program uses, and the note of its exceeded limit", async () => {
    const { root, directory, open, digests } = await filled(["one", "two"]);
    const tight = await ImageCache.open(directory, { maxBytes: 1.5 * MIB });
    onTestFinished(() => tight.close());
    const [one, two] = await Promise.all(
      ["one", "two"].map((name) => tight.get(join(root, `${name}.vhs`))),
    );
    const pruned = await json(["cache", "prune", directory, "--max-bytes", "0"]);
    expect(pruned).toMatchObject({ images: 0, bytes: 0 });
    const excess = join(directory, "excess");
    expect(existsSync(excess)).toBe(true);
    // Read-only commands keep the note.
    for (const command of ["list", "stats", "verify"]) await json(["cache", command, directory]);
    expect(existsSync(excess)).toBe(true);
    await two?.release();
    expect(existsSync(excess)).toBe(false);
    expect(existsSync(imageIn(directory, digests[1]!))).toBe(false);
    expect(await json(["cache", "prune", directory, "--all"])).toMatchObject({ images: 1 });
    // The image is removed, but its user can still read it.
    expect(await open.entries()).toEqual([]);
    expect(readFileSync(one!.path).equals(readFileSync(join(root, "one.img")))).toBe(true);
    await one?.release();
    expect(readdirSync(join(directory, "images"))).toEqual([]);
  });

  test("removes all images with --all", async () => {
    const { directory } = await filled(["one", "two"]);
    const { code, out } = await cacheProcess("prune", directory, "--all");
    expect(code).toBe(0);
    expect(out).toMatch(/^evicted images {2}2\nevicted size +2\.1\d MB .*\nleft on disk +\d+ kB /);
    expect(readdirSync(join(directory, "images"))).toEqual([]);
    const again = await json(["cache", "prune", directory, "--all"]);
    expect(again).toEqual({ images: 0, bytes: 0, left: expect.any(Number) });
  });

  test("verifies images and removes damaged ones", async () => {
    const { directory, digests } = await filled(["one", "two"]);
    const [one, two] = digests as [string, string];
    const good = await cache("verify", directory, "--bytes-per-second", "1GiB");
    expect(good).toEqual({ code: 0, out: "good     2\ndamaged  0\n", err: "" });
    const image = imageIn(directory, one);
    const bytes = readFileSync(image);
    bytes[700_000]! ^= 1;
    chmodSync(image, 0o600);
    writeFileSync(image, bytes);
    const { code, out, err } = await cacheProcess("verify", directory);
    expect({ code, out, err }).toEqual({
      code: 1,
      out: `good     1\ndamaged  1\n${one}\n`,
      err: "",
    });
    expect(await json(["cache", "verify", directory])).toEqual({ good: 1, damaged: [] });
    const other = imageIn(directory, two);
    chmodSync(other, 0o600);
    writeFileSync(other, bytes.subarray(1));
    expect(await json(["cache", "verify", directory], 1)).toEqual({ good: 0, damaged: [two] });
    expect(await json(["cache", "stats", directory])).toMatchObject({ entries: 0, damaged: 2 });
  });
});

describe("hedgerow cache with invalid arguments", () => {
  test.for([
    [[], "expected a command"],
    [["show"], "unknown command 'show'"],
    [["list"], "missing required argument 'directory'"],
    [["stats", "DIRECTORY", "more"], "too many arguments"],
    [["prune", "DIRECTORY"], "--max-bytes and --all: expected one of them, found neither"],
    [["prune", "DIRECTORY", "--max-bytes", "0", "--all"], "expected one of them, found both"],
    [["prune", "DIRECTORY", "--max-bytes", "10 GB"], "expected bytes, KiB, MiB, GiB or TiB"],
    [["prune", "DIRECTORY", "--max-bytes", "9000TiB"], "maxBytes: expected"],
    [["prune", "DIRECTORY", "--max-bytes", "-1"], "expected bytes, KiB, MiB, GiB or TiB"],
    [["verify", "DIRECTORY", "--bytes-per-second", "0"], "bytesPerSecond: expected"],
    [["list", "s3://bucket/secret"], "directory: expected a path or a file: URL"],
  ] as const)("refuses the arguments %j", async ([args, message]) => {
    const root = makeTree();
    const directory = join(root, "cache");
    await (await ImageCache.open(directory, { maxBytes: MIB })).close();
    const before = contentOf(directory);
    const resolved = args.map((arg) => (arg === "DIRECTORY" ? directory : arg));
    const { code, out, err } = await cache(...resolved);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    const last = err.trimEnd().split("\n").at(-1);
    expect(last).toMatch(/^hedgerow: /);
    expect(last).toContain(message);
    expect(last).not.toContain("secret");
    expect(contentOf(directory)).toBe(before);
  });

  test.for([
    ["list", ["missing", "file.txt", "empty", "full"]],
    ["stats", ["missing", "empty"]],
    ["verify", ["missing", "empty"]],
    ["prune --max-bytes 0", ["missing", "full"]],
    ["prune --all", ["missing", "full"]],
  ] as const)(
    "refuses a directory that is not a cache, and leaves it unchanged: %s",
    async ([command, names]) => {
      const root = makeTree({ "file.txt": "mine", "full/file.txt": "mine", "empty/": "" });
      const messages = {
        missing: "expected a cache, found nothing",
        "file.txt": "expected a directory",
        empty: "expected a cache, found a directory that is not one",
        full: "expected a cache, found a directory that is not one",
      };
      for (const name of names) {
        const [verb = "", ...options] = command.split(" ");
        const { code, out, err } = await cache(verb, join(root, name), ...options, "--json");
        expect({ code, out }).toEqual({ code: 3, out: "" });
        expect(JSON.parse(err)).toEqual({
          error: { code: "ERR_CACHE", message: expect.stringContaining(messages[name]) },
        });
      }
      expect(filesIn(root)).toEqual(["empty", "file.txt", "full", "full/file.txt"]);
    },
  );

  test("refuses a cache that others can write to", async () => {
    const { directory } = await filled([]);
    chmodSync(directory, 0o770);
    const { code, err } = await cache("list", directory);
    expect(code).toBe(3);
    expect(err).toContain("expected a directory that only its owner can write to, found mode 770");
  });
});

describe("hedgerow snapshot restore --cache", () => {
  /** Serves a snapshot from an origin, and returns a directory for a cache. */
  async function served() {
    const root = makeTree({ "disk.img": SMALL });
    const [image, file] = [join(root, "disk.img"), join(root, "disk.vhs")];
    const { digest } = await createSnapshot(image, file, { workers: 1 });
    const origin = await startOrigin({ files: { "/disk.vhs": file } });
    onTestFinished(() => origin.close());
    const url = origin.url("/disk.vhs").href;
    return { root, file, url, origin, digest, directory: join(root, "cache") };
  }

  test("restores through a cache, and hits the second time", async () => {
    const { root, url, origin, digest, directory } = await served();
    const [first, second] = [join(root, "first.img"), join(root, "second.img")];
    const restore = ["snapshot", "restore", url];
    const options = ["--digest", digest, "--cache", directory, "--cache-max-bytes", "16MiB"];
    expect(await json([...restore, first, ...options])).toMatchObject({
      digest,
      hit: false,
    });
    const { requestCount } = origin;
    expect(requestCount).toBeGreaterThan(0);
    expect(await json([...restore, second, ...options])).toMatchObject({
      digest,
      hit: true,
    });
    expect(origin.requestCount).toBe(requestCount);
    for (const image of [first, second]) expect(readFileSync(image).equals(SMALL)).toBe(true);
    const people = await hedgerowProcess([...restore, second, ...options]);
    expect(people).toMatchObject({ code: 0, err: "" });
    expect(people.out).toMatch(/^cache {7}hit$/m);
    const kept = await hedgerow([...restore, second, "--no-overwrite", ...options]);
    expect(kept).toMatchObject({ code: 3, out: "" });
    expect(kept.err).toContain("already exists; omit --no-overwrite to replace it");
    expect(await json(["cache", "stats", directory])).toMatchObject({ fills: 1, misses: 1 });
  });

  test.for([
    [["--cache", "DIRECTORY"], 2, "--cache and --cache-max-bytes: expected both"],
    [["--cache-max-bytes", "1GiB"], 2, "--cache and --cache-max-bytes: expected both"],
    [
      ["--cache", "DIRECTORY", "--cache-max-bytes", "10GB"],
      2,
      "expected bytes, KiB, MiB, GiB or TiB",
    ],
    [["--cache", "DIRECTORY", "--cache-max-bytes", "1KiB"], 2, "maxBytes: expected"],
    [["--cache", "FULL", "--cache-max-bytes", "1GiB"], 3, "expected a cache or an empty directory"],
    [["--cache", "DIRECTORY", "--cache-max-bytes", "1MiB"], 3, "maxBytes 1048576 leaves"],
  ] as const)("refuses to restore with %j", async ([args, expected, message]) => {
    const { root, file } = await served();
    const full = join(root, "full");
    mkdirSync(full);
    writeFileSync(join(full, "file.txt"), "mine");
    const places: Record<string, string> = { DIRECTORY: join(root, "cache"), FULL: full };
    const options = args.map((arg) => places[arg] ?? arg);
    const image = join(root, "new.img");
    const { code, out, err } = await hedgerow(["snapshot", "restore", file, image, ...options]);
    expect({ code, out }).toEqual({ code: expected, out: "" });
    expect(err).toContain(message);
    expect(existsSync(image)).toBe(false);
    expect(readdirSync(full)).toEqual(["file.txt"]);
    if (expected === 2) expect(existsSync(join(root, "cache"))).toBe(false);
  });
});
