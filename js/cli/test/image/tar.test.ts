/** Archives that GNU tar writes, and damaged ones. */
import { readFileSync, writeFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";

import { seededRandom } from "../../../../tests/origin/random.mjs";
import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { noise, writeSparse } from "../../../../tests/support/snapshots/image.js";
import { minutes, trials } from "../../../../tests/support/trials.js";
import { CliError } from "../../src/error.js";
import { readTar } from "../../src/image/tar.js";
import { type Member, mendChecksum, tarOf } from "../support/layers.js";
import { run } from "../support/trees.js";

const folder = temporaryFolder();

/** Sizes and offsets of data in the sparse files of the tests: few runs, and more than one header holds. */
const SPARSE = [
  ["small", 2 ** 20, 2],
  ["large", 2 ** 26, 200],
] as const;

beforeAll(() => {
  run("mkdir", folder("tree"));
  for (const [name, size, runs] of SPARSE) {
    const offsets = Array.from({ length: runs }, (_, index) => index * 3 * 2 ** 16);
    writeSparse(folder("tree", name), size, offsets, (offset) => noise(`${name} ${offset}`, 5000));
  }
  writeFileSync(folder("tree", "x".repeat(200)), "long name");
  run("ln", "-s", "y".repeat(200), folder("tree", "link"));
});

/** Reads an archive in chunks of random sizes. Returns its files with their content. */
async function filesIn(bytes: Buffer, seed: number): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  for await (const { path, kind, size, segments, data, target } of readTar(
    chunks(bytes, seed),
    "it",
  )) {
    const content = Buffer.alloc(kind === "file" ? size : 0);
    const parts: Buffer[] = [];
    for await (const part of data) parts.push(part);
    const stored = Buffer.concat(parts);
    let at = 0;
    for (const { offset, length } of segments) {
      stored.copy(content, offset, at, at + length);
      at += length;
    }
    files.set(path, kind === "symlink" ? Buffer.from(target) : content);
  }
  return files;
}

async function* chunks(bytes: Buffer, seed: number): AsyncGenerator<Buffer> {
  const random = seededRandom(seed);
  for (let at = 0; at < bytes.length; ) {
    const part = bytes.subarray(at, at + 1 + Math.floor(random() * 100_000));
    yield part;
    at += part.length;
  }
}

test.each([
  ["gnu", []],
  ["posix", ["--sparse-version=0.0"]],
  ["posix", ["--sparse-version=0.1"]],
  ["posix", ["--sparse-version=1.0"]],
])("reads sparse files and long names in the format %s %s", async (format, args) => {
  const archive = folder("archive.tar");
  run("tar", "--sparse", `--format=${format}`, ...args, "-C", folder("tree"), "-cf", archive, ".");
  const files = await filesIn(readFileSync(archive), 1);
  for (const [name] of SPARSE) {
    expect(files.get(`./${name}`)?.equals(readFileSync(folder("tree", name)))).toBe(true);
  }
  expect(files.get(`./${"x".repeat(200)}`)?.toString()).toBe("long name");
  expect(files.get("./link")?.toString()).toBe("y".repeat(200));
});

test(
  "reads an archive with random damage, or says what is wrong with it",
  minutes({ all: 5 }),
  async () => {
    const archives = ["gnu", "posix"].map(smallArchive);
    for (let seed = 0; seed < trials({ few: 500, all: 50_000 }); seed += 1) {
      const random = seededRandom(seed);
      const bytes = Buffer.from(archives[seed % 2]!);
      for (let count = 1 + Math.floor(random() * 4); count > 0; count -= 1) {
        const at = Math.floor(random() * bytes.length);
        bytes[at] = Math.floor(random() * 256);
        mendChecksum(bytes.subarray(at - (at % 512)));
      }
      const end = random() < 0.2 ? Math.floor(random() * bytes.length) : bytes.length;
      const read = async () => {
        for await (const { segments, size } of readTar(
          chunks(bytes.subarray(0, end), seed),
          "it",
        )) {
          for (const { offset, length } of segments)
            expect(offset + length).toBeLessThanOrEqual(size);
        }
      };
      await read().catch((error) => expect(error, `seed ${seed}`).toBeInstanceOf(CliError));
    }
  },
);

test("reads an archive whose last block is not filled, and none without the last byte of a file", async () => {
  const member = tarOf([{ path: "a", content: Buffer.from("content") }]);
  const end = member.length - 1024 - (512 - "content".length);
  expect((await filesIn(member.subarray(0, end), 1)).get("a")?.toString()).toBe("content");
  await expect(filesIn(member.subarray(0, end - 1), 1)).rejects.toThrow("the rest of the archive");
});

test.each(["x", "g", "L", "K", "0"])(
  "refuses a negative size in a header of the type %s",
  async (type) => {
    const bytes = tarOf([{ path: "a" }]);
    const header = bytes.subarray(0, 512);
    header.write(type, 156);
    // -512 in binary.
    header.fill(0xff, 124, 136).writeUInt8(0xfe, 134);
    header.writeUInt8(0, 135);
    mendChecksum(header);
    await expect(filesIn(bytes, 1)).rejects.toThrow("it: expected a size, found -512");
  },
);

test("stops at a map of a sparse file in which no line ends", async () => {
  const xattrs = { abc: Buffer.from("1"), abcdef: Buffer.from("9") };
  const archive = tarOf([{ path: "a", xattrs, content: Buffer.alloc(2 ** 16, "1") }]);
  // Keys of the same length.
  const text = archive
    .toString("latin1")
    .replace("SCHILY.xattr.abc=", "GNU.sparse.major=")
    .replace("SCHILY.xattr.abcdef=", "GNU.sparse.realsize=");
  await expect(filesIn(Buffer.from(text, "latin1"), 1)).rejects.toThrow("found a longer line");
});

test.each<[what: string, member: Member]>([
  ["a path", { path: "a\0b" }],
  ["a target", { path: "a", type: "2", target: "a\0b" }],
  ["the name of an attribute", { path: "a", xattrs: { "user.a\0b": Buffer.alloc(1) } }],
])("refuses a zero byte in %s", async (_what, member) => {
  await expect(filesIn(tarOf([member]), 1)).rejects.toThrow("names without zero bytes");
});

test.each(["a reader that stops", "damage"])("ends its source after %s", async (why) => {
  let isEnded = false;
  async function* source() {
    try {
      for (;;) yield why === "damage" ? Buffer.alloc(1024, "x") : member;
    } finally {
      isEnded = true;
    }
  }
  const member = tarOf([{ path: "a" }, { path: "b" }]);
  const read = async () => {
    for await (const _ of readTar(source(), "it")) break;
  };
  await read().catch((error) => expect(error).toBeInstanceOf(CliError));
  expect(isEnded).toBe(true);
});

/** Returns a small archive in a format. */
function smallArchive(format: string): Buffer {
  const archive = folder("small.tar");
  run("truncate", "--size=100k", folder("hole"));
  const names = ["hole", "tree/link", `tree/${"x".repeat(200)}`];
  run("tar", "--sparse", `--format=${format}`, "-b1", "-C", folder(), "-cf", archive, ...names);
  return readFileSync(archive);
}
