import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createSnapshot } from "@hedgerow/snapshot";
import { describe, expect, test } from "vitest";
import { hedgerow, hedgerowProcess } from "../support/bin.js";
import { type Info, SMALL } from "../support/images.js";
import { makeTree } from "../support/tree.js";

const DIGEST = /^[0-9a-f]{64}$/;

/** Runs `hedgerow snapshot` to its end, in the process of the test. */
const snapshot = (...args: string[]) => hedgerow(["snapshot", ...args]);

/** Creates the snapshot of a small image and returns both paths. */
async function smallSnapshot(...args: string[]) {
  const root = makeTree({ "disk.img": SMALL });
  const paths = { root, image: join(root, "disk.img"), file: join(root, "disk.vhs") };
  const { code, out, err } = await snapshot("create", paths.image, paths.file, "--json", ...args);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return { ...paths, info: JSON.parse(out) as Info };
}

/** Changes one byte of a file. */
function damage(file: string, position: number): void {
  const bytes = readFileSync(file);
  bytes[position] = bytes[position]! ^ 1;
  writeFileSync(file, bytes);
}

/** The table that is printed for the snapshot of the small image. */
const ROWS = [
  String.raw`image size  2\.1 MB \(2,097,252 bytes\)`,
  String.raw`data        1\.05 MB \(1,048,676 bytes\)`,
  String.raw`holes       1\.05 MB \(1,048,576 bytes\)`,
  String.raw`file size   5\d\d kB \(5\d\d,\d{3} bytes\)`,
  String.raw`frames      3 \(data 2, holes 1\)`,
  String.raw`ratio       2\.00 \(data / file\)`,
  String.raw`piece size  1 MiB \(1,048,576 bytes\)`,
  "identity    [0-9a-f]{64}",
];
const TIMED_ROWS = [
  ...ROWS,
  String.raw`time        [\d.,]+ s`,
  String.raw`rate        [\d.]+ .?B/s \(data\)`,
];

const linesOf = (rows: readonly string[]) => new RegExp(`^${rows.join("\n")}\n$`);

describe("hedgerow snapshot", () => {
  test("creates, restores, inspects and verifies snapshots", async () => {
    const root = makeTree({ "disk.img": SMALL });
    const [image, file, copy] = ["disk.img", "disk.vhs", "copy.img"].map((name) =>
      join(root, name),
    ) as [string, string, string];
    const runs = [
      [["create", image, file], TIMED_ROWS],
      [["restore", file, copy], TIMED_ROWS],
      [["info", file], ROWS],
      [["verify", file], ROWS],
    ] as const;
    for (const [args, rows] of runs) {
      const { code, out, err } = await hedgerowProcess(["snapshot", ...args]);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out).toMatch(linesOf(rows));
    }
    expect(readFileSync(copy).equals(SMALL)).toBe(true);
    expect(readdirSync(root).sort()).toEqual(["copy.img", "disk.img", "disk.vhs"]);
  });

  test("prints the result of snapshot commands as one JSON object", async () => {
    const { root, file, info } = await smallSnapshot();
    const { duration, ...facts } = info as Info;
    expect(duration).toBeGreaterThan(0);
    expect(facts).toEqual({
      ...{ digest: expect.stringMatching(DIGEST), fileSize: readFileSync(file).length },
      ...{ imageSize: SMALL.length, dataSize: 1_048_676, holeSize: 1_048_576 },
      ...{ pieceSize: 1_048_576, dataFrames: 2, holeFrames: 1 },
    });
    const json = async (...args: string[]) => {
      const { code, out, err } = await snapshot(...args, "--json");
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out).toMatch(/^\{.*\}\n$/);
      return JSON.parse(out) as unknown;
    };
    expect(await json("info", file)).toEqual(facts);
    expect(await json("verify", file)).toEqual(facts);
    const restored = await json("restore", file, join(root, "copy.img"));
    expect(restored).toEqual({ ...facts, duration: expect.any(Number) });
  });

  test("creates a delta against a base, and says what it consists of", async () => {
    const { root, image, file, info } = await smallSnapshot();
    const [delta, copy, cache] = ["delta.vhs", "copy.img", "cache"].map((name) =>
      join(root, name),
    ) as [string, string, string];
    const changed = Buffer.from(SMALL);
    changed.write("changed", 5000);
    writeFileSync(image, changed);
    const base = ["--base", file, "--base-digest", info.digest];
    const rows = [
      ...ROWS.slice(0, 3),
      ...["file size +.*", "frames +.*", "ratio +.*"],
      ...ROWS.slice(6),
      ...["depth +1", "own frames +4.* kB .*", "shared frames +5.* kB .*"],
      `object 1 +${info.digest}, 5.*, used 5.*: disk.vhs`,
    ].map((row) => row.replace(/ {2,}/, " +"));
    const found = (how: string) =>
      linesOf([...rows, `changed +4.* kB .4,096 bytes., found by ${how}`, "time +.*", "rate +.*"]);
    const created = await snapshot("create", image, delta, ...base);
    expect(created).toMatchObject({ code: 0, err: "" });
    expect(created.out).toMatch(found("digests"));
    expect((await snapshot("info", delta)).out).toMatch(linesOf(rows));
    const facts = JSON.parse((await snapshot("info", delta, "--json")).out);
    const { digest } = info;
    expect(facts.delta).toMatchObject({ depth: 1, objects: [{ digest, reference: "disk.vhs" }] });
    expect(await snapshot("restore", delta, copy)).toMatchObject({ code: 0 });
    expect(readFileSync(copy).equals(changed)).toBe(true);

    const cached = ["--cache", cache, "--cache-max-bytes", "16MiB"];
    expect(await snapshot("restore", file, copy, ...cached)).toMatchObject({ code: 0 });
    const compared = await snapshot("create", image, join(root, "b.vhs"), ...base, ...cached);
    expect(compared.out).toMatch(found("(compare|extents)"));
    expect(readFileSync(join(root, "b.vhs")).equals(readFileSync(delta))).toBe(true);

    const [diff, overlaid] = [join(root, "diff"), join(root, "c.vhs")];
    writeFileSync(diff, "");
    truncateSync(diff, SMALL.length);
    writeFileSync(diff, changed.subarray(0, 8192), { flag: "r+" });
    const args = ["create", diff, overlaid, ...base, "--overlay"];
    expect(await snapshot(...args)).toMatchObject({ code: 0, err: "" });
    expect(await snapshot("restore", overlaid, copy)).toMatchObject({ code: 0 });
    expect(readFileSync(copy).equals(changed)).toBe(true);
  });

  test("creates the same snapshot with any number of workers, and with --verify", async () => {
    const options = ["--level", "1", "--piece-size", "64KiB"];
    const { root, image, file, info } = await smallSnapshot(...options, "--workers", "1");
    expect(info).toMatchObject({ pieceSize: 65_536, dataFrames: 17, holeFrames: 1 });
    const other = join(root, "other.vhs");
    for (const size of ["65536", "64 kib"]) {
      const own = ["--level", "1", "--piece-size", size, "--workers", "3", "--verify"];
      expect(await snapshot("create", image, other, ...own)).toMatchObject({ code: 0 });
      expect(readFileSync(other).equals(readFileSync(file))).toBe(true);
    }
    const small = ["--level", "19", "--piece-size", "1MiB"];
    expect(await snapshot("create", image, other, ...small)).toMatchObject({ code: 0 });
    const { digest } = info;
    expect(await snapshot("info", other, "--digest", digest)).toMatchObject({ code: 3 });
  });

  test("flattens a delta to the snapshot of its image", async () => {
    const { root, image, file } = await smallSnapshot();
    const changed = Buffer.from(SMALL);
    changed.fill("x", 0, 4096);
    const [delta, flat, expected] = ["delta.vhs", "flat.vhs", "expected.vhs"].map((name) =>
      join(root, name),
    ) as [string, string, string];
    writeFileSync(image, changed);
    await createSnapshot(image, delta, { base: file });
    const encoding = ["--level", "1", "--piece-size", "64KiB"];
    for (const options of [[], encoding]) {
      const { code, out, err } = await snapshot("flatten", delta, flat, ...options);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      expect(out).toMatch(/^identity +[0-9a-f]{64}$/m);
      expect(await snapshot("create", image, expected, ...options)).toMatchObject({ code: 0 });
      expect(readFileSync(flat).equals(readFileSync(expected))).toBe(true);
    }
    const again = await snapshot("flatten", delta, flat, "--no-overwrite");
    expect(again).toMatchObject({ code: 3, out: "" });
  });

  test("refuses a snapshot with another digest", async () => {
    const { root, file, info } = await smallSnapshot();
    const copy = join(root, "copy.img");
    const commands = [
      ["info", file],
      ["verify", file],
      ["flatten", file, join(root, "flat.vhs")],
      ["restore", file, copy],
    ] as const;
    for (const command of commands) {
      const wrong = await snapshot(...command, "--digest", "0".repeat(64));
      expect(wrong).toMatchObject({ code: 3, out: "" });
      expect(wrong.err).toBe(
        `hedgerow: ${file}: expected the snapshot with identity ${"0".repeat(64)}, found ${info.digest}\n`,
      );
      expect(existsSync(copy)).toBe(false);
      expect(await snapshot(...command, "--digest", info.digest)).toMatchObject({ code: 0 });
    }
  });
});

describe("hedgerow snapshot refuses", () => {
  test.for([
    [[], "expected a command"],
    [["pack"], "unknown command 'pack'"],
    [["create", "IMAGE"], "missing required argument 'snapshot'"],
    [["restore", "FILE"], "missing required argument 'image'"],
    [["info"], "missing required argument 'snapshot'"],
    [["verify", "FILE", "more"], "too many arguments"],
    [["info", "FILE", "--workers", "2"], "unknown option '--workers'"],
    [["create", "IMAGE", "NEW", "--digest", "0"], "unknown option '--digest'"],
    [["create", "IMAGE", "NEW", "--level", "high"], "'high' is invalid. expected a whole number"],
    [["create", "IMAGE", "NEW", "--level", "-1"], "expected a whole number"],
    [["create", "IMAGE", "NEW", "--level", "20"], "level: expected"],
    [["create", "IMAGE", "NEW", "--piece-size", "1MB"], "'1MB' is invalid. expected bytes"],
    [["create", "IMAGE", "NEW", "--piece-size", "5KiB"], "expected a power of two"],
    [["create", "IMAGE", "NEW", "--workers", "0"], "workers: expected"],
    [
      ["create", "IMAGE", "NEW", "--base-digest", "0".repeat(64)],
      "expected the option base with it",
    ],
    [["create", "IMAGE", "NEW", "--base", "-"], "expected a file or a URL"],
    [["create", "IMAGE", "NEW", "--base", "FILE", "--cache", "x"], "expected both or neither"],
    [["verify", "FILE", "--workers", "two"], "expected a whole number"],
    [["info", "FILE", "--digest", "abc"], "digest: expected 64 hexadecimal digits"],
    [["create", "IMAGE", "IMAGE"], "expected a path other than that of the file that is read"],
    [["create", "-", "NEW"], "expected a file or a URL, not standard input or output"],
    [["create", "IMAGE", "-"], "expected a file or a URL, not standard input or output"],
    [["info", "ftp://user:secret@example.com/x.vhs"], "found ftp:"],
    [["info", "s3://user:secret@bucket/key"], "expected s3://bucket/key"],
    [["create", "https://example.com/?secret", "NEW"], "expected a path or a file: URL"],
    [["restore", "FILE", "s3://bucket/secret"], "expected a path or a file: URL"],
    [["create", "IMAGE", "NEW", "--connections", "257"], "connections: expected"],
    [["create", "IMAGE", "NEW", "--part-size", "2GiB"], "partSize: expected"],
    [["info", "FILE", "--part-size", "8 MB"], "expected bytes, KiB, MiB, GiB or TiB"],
    [["info", "FILE", "--retries", "all"], "expected a whole number"],
    [["info", "FILE", "--resume"], "unknown option '--resume'"],
    [["verify", "FILE", "--no-overwrite"], "unknown option '--no-overwrite'"],
    [["info", "FILE", "--header", "secret"], "--header: expected a name and a value"],
    [["info", "FILE", "--header", "a name: secret"], "--header: expected a name and a value"],
    [["info", "FILE", "--header", "name: secret\nsecret"], "--header: expected a name and a value"],
    [["create", "IMAGE", "s3://b/k", "--endpoint", "secret.example"], "s3.endpoint: expected"],
  ] as const)("refuses the command line %j", async ([args, message]) => {
    const root = makeTree({ "disk.img": SMALL, "disk.vhs": "" });
    const places = { IMAGE: "disk.img", FILE: "disk.vhs", NEW: "new" } as Record<string, string>;
    const resolved = args.map((arg) => (arg in places ? join(root, places[arg]!) : arg));
    const { code, out, err } = await snapshot(...resolved);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    const last = err.trimEnd().split("\n").at(-1);
    expect(last).toMatch(/^hedgerow: /);
    expect(last).toContain(message);
    expect(last).not.toContain("secret");
    expect(readdirSync(root).sort()).toEqual(["disk.img", "disk.vhs"]);
    expect(readFileSync(join(root, "disk.img")).equals(SMALL)).toBe(true);
  });

  test("refuses a missing source and an unwritable destination", async () => {
    const { root, image, file } = await smallSnapshot();
    const missing = join(root, "missing");
    mkdirSync(join(root, "folder"));
    const failures = [
      [["create", missing, join(root, "new")], `cannot read ${missing}: ENOENT`],
      [["create", join(root, "folder"), join(root, "new")], "expected a file"],
      [["create", image, join(missing, "new")], `${missing} does not exist`],
      [["create", image, join(root, "folder")], "found a directory"],
      [["restore", missing, join(root, "new")], `cannot read ${missing}: ENOENT`],
      [["restore", file, join(missing, "new")], `${missing} does not exist`],
      [["restore", file, "/dev/null"], "found a device"],
      [["info", missing], `cannot read ${missing}: ENOENT`],
      [["verify", root], "expected a file"],
      // The arguments in the wrong order.
      [["create", file, image], "found a snapshot: restore it with hedgerow snapshot restore"],
      [["create", file, join(root, "new")], "to store the file as it is, pass --format raw"],
      [["restore", image, file], "disk.img: expected a snapshot, found another file"],
    ] as const;
    for (const [args, message] of failures) {
      const { code, out, err } = await snapshot(...args);
      expect({ code, out }, args.join(" ")).toEqual({ code: 3, out: "" });
      expect(err).toMatch(/^hedgerow: [^\n]+\n$/);
      expect(err).toContain(message);
    }
    expect(readdirSync(root).sort()).toEqual(["disk.img", "disk.vhs", "folder"]);
  });

  test("refuses an existing destination with --no-overwrite", async () => {
    const { root, image, file } = await smallSnapshot();
    const before = readFileSync(file);
    for (const args of [
      ["create", image, file, "--level", "1"],
      ["restore", file, image],
    ]) {
      const { code, out, err } = await snapshot(...args, "--no-overwrite");
      expect({ code, out }).toEqual({ code: 3, out: "" });
      expect(err).toBe(`hedgerow: ${args[2]} already exists; omit --no-overwrite to replace it\n`);
    }
    expect(readFileSync(file).equals(before)).toBe(true);
    expect(readdirSync(root).sort()).toEqual(["disk.img", "disk.vhs"]);
  });

  test("refuses a damaged snapshot and names the place", async () => {
    const { root, file } = await smallSnapshot();
    const copy = join(root, "copy.img");
    writeFileSync(copy, "old");
    damage(file, 200_000);
    for (const command of [
      ["verify", file],
      ["restore", file, copy],
    ] as const) {
      const { code, out, err } = await snapshot(...command);
      expect({ code, out }).toEqual({ code: 3, out: "" });
      expect(err).toMatch(/^hedgerow: \S+disk\.vhs: .*frame.* at byte \d+: expected [^\n]+\n$/);
    }
    const { err } = await hedgerowProcess(["snapshot", "verify", file, "--json"]);
    expect(JSON.parse(err)).toEqual({
      error: { code: "ERR_SNAPSHOT_FORMAT", message: expect.stringContaining(" at byte ") },
    });
    // The manifest is undamaged.
    expect(await snapshot("info", file)).toMatchObject({ code: 0 });
    truncateSync(file, readFileSync(file).length - 1);
    for (const command of [
      ["info", file],
      ["verify", file],
      ["restore", file, copy],
    ] as const) {
      const { code, out, err } = await snapshot(...command);
      expect({ code, out }).toEqual({ code: 3, out: "" });
      expect(err).toMatch(/^hedgerow: \S+disk\.vhs: .+ at byte \d+: expected [^\n]+\n$/);
    }
    expect(readFileSync(copy, "utf8")).toBe("old");
    expect(readdirSync(root).sort()).toEqual(["copy.img", "disk.img", "disk.vhs"]);
  });
});
