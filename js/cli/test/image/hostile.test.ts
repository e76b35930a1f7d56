/** Images that try to harm the host: they are refused, or stay within their image. */
import { constants } from "node:buffer";
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";

import { MAX_REQUESTS, SCRIPT, Script } from "../../src/image/script.js";
import { readTar, type TarEntry } from "../../src/image/tar.js";
import { MAX_DEPTH, MAX_ENTRIES, newDirectory, Tree } from "../../src/image/tree.js";
import { hedgerow, hedgerowProcess } from "../support/bin.js";
import {
  type LayoutOptions,
  type Member,
  mendChecksum,
  tarOf,
  writeLayout,
} from "../support/layers.js";
import { makeTree } from "../support/tree.js";
import { checkImage, listImage, run } from "../support/trees.js";

/** Runs the command on layers, in a folder that must have nothing else afterwards. Returns how it ended. */
async function create(layers: readonly Member[][], options: LayoutOptions = {}) {
  const root = makeTree({ "out/": "" });
  const layout = writeLayout(join(root, "layout"), layers.map(tarOf), options);
  const path = join(root, "out", "image");
  const args = ["image", "create", `oci:${layout}`, path, "--free", "0"];
  const { code, err } = await hedgerow(args);
  const left = readdirSync(join(root, "out"));
  expect(left).toEqual(code === 0 ? ["image"] : []);
  expect(readdirSync(root).sort()).toEqual(["layout", "out"]);
  return { code, err, path, mounted: join(root, "mounted") };
}

const FILE = { content: Buffer.from("hostile") };

/** The content of all files of a tree. */
const CONTENT = { file: "file", blocks: 0, extents: 0 };

test.each<[what: string, members: Member[], error: string]>([
  ["a path with ..", [{ path: "a/../../x", ...FILE }], "expected a path in the image"],
  [
    "a hard link out of the root",
    [{ path: "a", type: "1", target: "../../etc/passwd" }],
    "with ..",
  ],
  ["a hard link to nothing", [{ path: "a", type: "1", target: "/etc/passwd" }], "found nothing"],
  ["a hard link to a directory", [{ path: "a", type: "1", target: "/" }], "of a hard link"],
  ["a whiteout of the root", [{ path: ".wh.." }], "expected a whiteout of a name"],
  ["a whiteout without a name", [{ path: "a/.wh." }], "expected a whiteout of a name"],
  ["a root that is a link", [{ path: "./", type: "2", target: "/etc" }], "a directory as the root"],
  ["an unknown type", [{ path: "a", type: "Z" }], "found type Z"],
  ["a name of 256 bytes", [{ path: "a".repeat(256) }], "names of at most 255 bytes"],
  [
    "a whiteout of a name of 256 bytes",
    [{ path: `.wh.${"a".repeat(256)}` }],
    "of at most 255 bytes",
  ],
  ["a loop of links", [{ path: "a", type: "2", target: "a" }, { path: "a/b" }], "symbolic links"],
  ["a target of 4096 bytes", [{ path: "a", type: "2", target: "a".repeat(4096) }], "4095 bytes"],
  [
    "attributes that fill more than a block",
    [{ path: "a", xattrs: { "user.large": Buffer.alloc(5000) } }],
    "ea_set",
  ],
  ["no owner", [{ path: "a", owner: [2 ** 32 - 1, 0] }], "an owner from 0"],
  [
    "a sparse file whose runs overlap",
    [{ path: "a", content: Buffer.alloc(20), sparse: { map: [10, 10, 15, 10], size: 100 } }],
    "runs in order",
  ],
])("refuses %s", async (_what, members, error) => {
  const { code, err } = await create([members]);
  expect(code).toBe(3);
  expect(err).toContain(error);
});

/** Returns directories whose path is longer than that of a member, below the link `deep`. Their path has 7,500 bytes. */
function deepMembers(): Member[] {
  const chunk = (letter: string) => Array(15).fill(letter.repeat(249)).join("/");
  return [
    { path: `${chunk("a")}/`, type: "5" },
    { path: "middle", type: "2", target: chunk("a") },
    { path: `middle/${chunk("b")}/`, type: "5" },
    { path: "deep", type: "2", target: `middle/${chunk("b")}` },
  ];
}

test("runs no end of a long path as a request", async () => {
  const marker = join(makeTree(), "marker");
  // debugfs reads 8,191 bytes of a line: `cd "`, 7,500 bytes, and these.
  const names = ["c".repeat(249), "d".repeat(235), "e".repeat(200)].join("/");
  const { code, err } = await create([
    [...deepMembers(), { path: `deep/${names}!touch ${marker};#/f` }],
  ]);
  expect(existsSync(marker)).toBe(false);
  expect({ code, err }).toMatchObject({
    code: 3,
    err: expect.stringContaining("debugfs can read"),
  });
});

test("refuses a hard link that debugfs would read as two requests", async () => {
  const target = `deep/${"c".repeat(249)}/${"d".repeat(245)}`;
  const link: Member = { path: "later/link", type: "1", target };
  const { code, err } = await create([[...deepMembers(), { path: target }, link]]);
  expect({ code, err }).toMatchObject({
    code: 3,
    err: expect.stringContaining("debugfs can read"),
  });
});

test("takes no name of an attribute for an option", async () => {
  const { code, path } = await create([[{ path: "a", xattrs: { "-f/etc/fstab": FILE.content } }]]);
  expect(code).toBe(0);
  expect(run("debugfs", "-R", "ea_list /a", path)).toContain("-f/etc/fstab (7)");
});

test("accepts paths that fit in a request, and no longer ones", async () => {
  const scriptOf = async (length: number) => {
    const path = `deep/${"c".repeat(249)}/${"d".repeat(length - 7500 - 251)}/f`;
    const folder = makeTree();
    new Script(folder, undefined, (await treeOf([...deepMembers(), { path }])).root);
    return readFileSync(join(folder, SCRIPT), "latin1");
  };
  // With `cd` and quotes, 8,000 bytes.
  const text = await scriptOf(7995);
  expect(Math.max(...text.split("\n").map((line) => line.length))).toBe(8000);
  await expect(scriptOf(7996)).rejects.toThrow("a request of 8001 bytes");
});

test("writes a script that is longer than a string may be", () => {
  const folder = makeTree();
  const root = newDirectory({});
  const link = { ...newDirectory({}), kind: "symlink", target: "x".repeat(7900) } as const;
  const count = Math.ceil(constants.MAX_STRING_LENGTH / link.target.length);
  for (let index = 0; index < count; index += 1) {
    root.children?.set(`${index}`, { node: { ...link, children: undefined }, layer: 0 });
  }
  new Script(folder, undefined, root);
  expect(statSync(join(folder, SCRIPT)).size).toBeGreaterThan(constants.MAX_STRING_LENGTH);
});

test("keeps absolute paths and links out of the root within the image", async () => {
  const { code, path, mounted } = await create([
    [
      { path: "./", type: "5", mode: 0o755 },
      { path: "/absolute", ...FILE },
      { path: "up", type: "2", target: "../../../.." },
      { path: "up/over", ...FILE },
      { path: "etc-of-host", type: "2", target: "/etc" },
      { path: "etc-of-host/hostile", ...FILE },
      { path: "etc-of-host/.wh.passwd" },
    ],
  ]);
  expect(code).toBe(0);
  const found = Object.keys(listImage(path, mounted)).sort();
  expect(found).toEqual(["", "/absolute", "/etc", "/etc-of-host", "/etc/hostile", "/over", "/up"]);
});

test("an opaque root hides all layers below", async () => {
  const { code, path, mounted } = await create([
    [
      { path: "./", type: "5", mode: 0o700 },
      { path: "a/b", ...FILE },
    ],
    [{ path: "c", ...FILE }, { path: ".wh..wh..opq" }],
  ]);
  expect(code).toBe(0);
  checkImage(path);
  const found = listImage(path, mounted);
  expect(Object.keys(found).sort()).toEqual(["", "/c"]);
  expect(found[""]?.mode).toBe("0o40700");
});

test("a whiteout removes the longest name", async () => {
  const long = "a".repeat(255);
  const { code, path, mounted } = await create([
    [{ path: "./", type: "5", mode: 0o700 }, { path: long }, { path: "b" }],
    [{ path: `.wh.${long}` }],
  ]);
  expect(code).toBe(0);
  expect(Object.keys(listImage(path, mounted)).sort()).toEqual(["", "/b"]);
});

test.each<[what: string, options: LayoutOptions, error: string]>([
  [
    "a wrong digest of an archive",
    { diffIds: [`sha256:${"0".repeat(64)}`] },
    "the digest sha256:00",
  ],
  ["a digest of another kind", { diffIds: ["md5:0"] }, "a digest of SHA-256 or SHA-512"],
  ["a layer without a digest", { diffIds: [] }, "digests of 1 layers"],
  ["an unknown type of a layer", { layerType: "application/vnd.wasm" }, "the type of a layer"],
  ["an unknown type of an image", { configType: "application/vnd.wasm" }, "config.v1+json"],
])("refuses %s", async (_what, options, error) => {
  const { code, err } = await create([[{ path: "a", ...FILE }]], options);
  expect(code).toBe(3);
  expect(err).toContain(error);
});

test("refuses any blob that was changed", async () => {
  const root = makeTree({ "out/": "" });
  const layout = writeLayout(join(root, "layout"), [tarOf([{ path: "a", ...FILE }])]);
  const blobs = join(layout, "blobs", "sha256");
  for (const name of readdirSync(blobs)) {
    const bytes = readFileSync(join(blobs, name));
    const changed = Buffer.from(bytes);
    changed[changed.length >> 1]! ^= 1;
    writeFileSync(join(blobs, name), changed);
    const args = ["image", "create", `oci:${layout}`, join(root, "out", "image")];
    expect(await hedgerow(args), name).toMatchObject({ code: 3 });
    expect(readdirSync(join(root, "out"))).toEqual([]);
    writeFileSync(join(blobs, name), bytes);
  }
});

test("names a place in JSON whose values are in too many others", async () => {
  const root = makeTree();
  const layout = writeLayout(join(root, "layout"), [tarOf([])]);
  const depth = 200_000;
  const manifests = `${"[".repeat(depth)}${"]".repeat(depth)}`;
  writeFileSync(join(layout, "index.json"), `{"manifests":${manifests}}`);
  const { code, err } = await hedgerow(["image", "create", `oci:${layout}`, join(root, "image")]);
  const place = `${layout}/index.json: manifests[0]`;
  const reason = "expected an object, found lists or objects in too many others";
  expect({ code, err }).toEqual({ code: 3, err: `hedgerow: ${place}: ${reason}\n` });
});

test.each(["oci-layout", "index.json"])("accepts 4 MiB in %s, and no more", async (name) => {
  const root = makeTree();
  const layout = writeLayout(join(root, "layout"), [tarOf([])]);
  const text = readFileSync(join(layout, name), "utf8");
  const create = async (content: string | undefined) => {
    if (content === undefined) symlinkSync("/dev/zero", join(layout, name));
    else writeFileSync(join(layout, name), content);
    return hedgerow(["image", "create", `oci:${layout}`, join(root, "image"), "--free", "0"]);
  };
  expect(await create(text.padEnd(2 ** 22))).toMatchObject({ code: 0 });
  const refused = {
    code: 3,
    err: `hedgerow: ${layout}/${name}: expected at most 4194304 bytes, found more\n`,
  };
  expect(await create(text.padEnd(2 ** 22 + 1))).toMatchObject(refused);
  rmSync(join(layout, name));
  expect(await create(undefined)).toMatchObject(refused);
});

test("refuses a base that says too much about how it is started", async () => {
  const root = makeTree({ large: "" });
  const [layout, base] = [join(root, "layout"), join(root, "base")];
  writeLayout(layout, [tarOf([])]);
  truncateSync(join(root, "large"), 2 ** 30);
  run("mke2fs", "-q", "-t", "ext4", base, "16M");
  run("debugfs", "-w", "-R", "mkdir .hedgerow", base);
  run("debugfs", "-w", "-R", `write ${join(root, "large")} .hedgerow/image.json`, base);
  const args = [`oci:${layout}`, join(root, "image"), "--base", base];
  const { code, err } = await hedgerow(["image", "create", ...args]);
  const reason = "expected at most 4194304 bytes, found more";
  expect({ code, err }).toEqual({
    code: 3,
    err: `hedgerow: /.hedgerow/image.json: ${reason}\n`,
  });
});

test("stops at a tar bomb before it writes anything", async () => {
  const root = makeTree({ "out/": "" });
  const out = join(root, "out");
  run("mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", out);
  try {
    const zeros = tarOf([{ path: "zeros", content: Buffer.alloc(2 ** 25) }]);
    writeFileSync(join(root, "bomb.tar.gz"), gzipSync(zeros));
    const { code, err } = await hedgerow([
      "image",
      "create",
      join(root, "bomb.tar.gz"),
      join(out, "image"),
    ]);
    expect(code).toBe(3);
    expect(err).toContain("free at the destination");
    expect(readdirSync(out)).toEqual([]);
  } finally {
    run("umount", out);
  }
});

async function entriesOf(members: readonly Member[]): Promise<TarEntry[]> {
  const entries: TarEntry[] = [];
  for await (const entry of readTar(chunksOf(tarOf(members)), "layer")) entries.push(entry);
  return entries;
}

/** Adds members to a tree. Returns it. */
async function treeOf(
  members: readonly Member[],
  limits: { readonly members?: number; readonly text?: number } = {},
) {
  const tree = new Tree({ bytes: 2 ** 20, ...limits });
  for await (const entry of readTar(chunksOf(tarOf(members)), "layer")) {
    tree.add(entry, 0, CONTENT, "layer");
  }
  return tree;
}

test("accepts as many members as its limit, and no more", async () => {
  const members = ["a", "b", "c"].map((path) => ({ path }));
  expect((await treeOf(members, { members: 3 })).root.children?.size).toBe(3);
  await expect(treeOf(members, { members: 2 })).rejects.toThrow("at most 2 members");
});

test("accepts as many names in a directory as its limit, and no more", async () => {
  const tree = new Tree({ bytes: 2 ** 20 });
  const [entry] = await entriesOf([{ path: "a" }]);
  const add = (name: number) => tree.add({ ...entry!, path: `d/${name}` }, 0, CONTENT, "layer");
  for (let name = 0; name < MAX_ENTRIES; name += 1) add(name);
  expect(() => add(MAX_ENTRIES)).toThrow(`at most ${MAX_ENTRIES} names in a directory`);
  // Another object takes the place of one.
  add(0);
});

test("hides files of lower layers once, however often a layer says so", async () => {
  const tree = await treeOf([{ path: "d/lower" }]);
  const [file, whiteout, opaque] = await entriesOf([
    { path: "a" },
    { path: ".wh.d" },
    { path: "d/.wh..wh..opq" },
  ]);
  const children = tree.root.children!.get("d")!.node.children!;
  const walks = vi.spyOn(children, Symbol.iterator);
  for (let index = 0; index < 100; index += 1) {
    tree.add({ ...file!, path: `d/${index}` }, 1, CONTENT, "layer");
  }
  for (let index = 0; index < 100; index += 1) {
    tree.add(index % 2 === 0 ? whiteout! : opaque!, 1, CONTENT, "layer");
  }
  expect(walks).toHaveBeenCalledTimes(1);
  expect(children.size).toBe(100);
  expect(children.has("lower")).toBe(false);
});

test("accepts as many names of a file as ext4 can hold, and no more", async () => {
  const tree = new Tree({ bytes: 2 ** 20 });
  const [file, link] = await entriesOf([{ path: "a" }, { path: "b", type: "1", target: "a" }]);
  tree.add(file!, 0, CONTENT, "layer");
  for (let index = 1; index < 65_000; index += 1) {
    tree.add({ ...link!, path: `${index}` }, 0, CONTENT, "layer");
  }
  expect(tree.root.children?.get("a")?.node.names).toBe(65_000);
  expect(() => tree.add(link!, 0, CONTENT, "layer")).toThrow("at most 65000 names");
});

test("accepts as many names with line breaks as its limit, and no more", async () => {
  const scriptOf = async (count: number) => {
    const members = Array.from({ length: count }, (_, index) => ({ path: `${index}\n` }));
    return new Script(makeTree(), undefined, (await treeOf(members)).root);
  };
  const limit = MAX_REQUESTS / 2;
  expect((await scriptOf(limit)).last).toHaveLength(MAX_REQUESTS);
  await expect(scriptOf(limit + 1)).rejects.toThrow(`at most ${limit} names with line breaks`);
});

test("accepts paths of as many bytes as Linux, and no more", async () => {
  const long = `${"a".repeat(240)}/`.repeat(16);
  const last = "b".repeat(4095 - long.length);
  expect((await treeOf([{ path: `${long}${last}` }])).root.children?.size).toBe(1);
  await expect(treeOf([{ path: `${long}${last}b` }])).rejects.toThrow(
    "a path of at most 4095 bytes",
  );
});

test("accepts as many directories within one another as its limit, and no more", async () => {
  // The stack of a process is smaller than that of a test.
  const createBelow = async (root: string, layers: readonly Member[][], ...more: string[]) => {
    const layout = writeLayout(join(root, `layout-${layers.length}`), layers.map(tarOf));
    const image = join(root, `image-${layers.length}`);
    const args = ["image", "create", `oci:${layout}`, image, "--free", "1MiB", ...more];
    return { image, ...(await hedgerowProcess(args)) };
  };
  const root = makeTree();
  const deep: Member = { path: `${"a/".repeat(MAX_DEPTH)}b` };
  const one = await createBelow(root, [[deep]]);
  expect(one).toMatchObject({ code: 0, err: "" });
  const upper = [{ path: ".wh.a" }, { path: `${"c/".repeat(MAX_DEPTH)}b` }];
  const two = await createBelow(root, [[deep], upper], "--base", one.image);
  expect(two).toMatchObject({ code: 0, err: "" });
  checkImage(two.image);

  const half = "a/".repeat(MAX_DEPTH / 2);
  const link: Member = { path: "link", type: "2", target: half };
  await treeOf([link, { path: `link/${half}b` }]);
  const error = `at most ${MAX_DEPTH} directories within one another`;
  await expect(treeOf([link, { path: `link/${half}b/c` }])).rejects.toThrow(error);
  const links = Array.from({ length: 40 }, (_, index): Member[] => [
    { path: `${index}`, type: "2", target: index === 0 ? half : `${index - 1}/${half}` },
    { path: `${index}/b` },
  ]).flat();
  const refused = await createBelow(root, [[deep], [], links]);
  expect(refused).toMatchObject({ code: 3, err: expect.stringContaining(error) });
});

test("accepts as many attributes as fill a block, and no more", async () => {
  const members = (length: number) => [
    { path: "a", xattrs: { "user.large": Buffer.alloc(length, 1) } },
  ];
  const { code, path } = await create([members(4036)]);
  expect(code).toBe(0);
  checkImage(path);
  expect(await create([members(4037)])).toMatchObject({ code: 3 });
});

test("shows names in errors as UTF-8, and no more than their beginning", async () => {
  const latin = (name: string) => Buffer.from(name).toString("latin1");
  const link = (path: string, target: string): Member => ({ path, type: "1", target });
  await expect(treeOf([link(latin("Grüße"), latin("größer"))])).rejects.toThrow(
    "layer: Grüße: expected a file at the target größer of a hard link, found nothing",
  );
  for (const member of [
    { path: "a/".repeat(2 ** 17) },
    { path: "a", time: "1".repeat(2 ** 17) },
    { path: "a", owner: ["1".repeat(2 ** 17) as unknown as number, 0] as const },
    { path: "a/".repeat(2 ** 17), type: "Z" as const },
    link("a", "b/".repeat(2 ** 17)),
  ]) {
    const error = await treeOf([member]).catch((error) => error);
    expect(error.code).toBe("ERR_SOURCE");
    expect(error.message.length).toBeLessThan(500);
  }
});

test("counts directories that no member describes as members", async () => {
  const members = [{ path: "a/b/c" }];
  expect((await treeOf(members, { members: 3 })).root.children?.size).toBe(1);
  await expect(treeOf(members, { members: 2 })).rejects.toThrow("at most 2 members");
});

test("accepts names, targets and attributes of as many bytes as its limit, and no more", async () => {
  const members: Member[] = [
    { path: "aa/bbb", xattrs: { "user.a": Buffer.alloc(100) } },
    { path: "c", type: "2", target: "target" },
  ];
  const text = 2 + 3 + (256 + 6 + 100) + 1 + 6;
  expect((await treeOf(members, { text })).root.children?.size).toBe(2);
  await expect(treeOf(members, { text: text - 1 })).rejects.toThrow(`at most ${text - 1} bytes`);
});

test.each([
  ["long names", "L", "0"],
  ["long targets", "K", "2"],
  ["paths", "x", "0"],
])("keeps no more of headers with %s than the tree needs", async (_what, header, type) => {
  const tree = new Tree({ bytes: 0 });
  const before = heapAfterCollection();
  for (let index = 0; index < 4000; index += 1) {
    const number = `${index}`.padStart(20, "0");
    const path =
      header === "x"
        ? [...Array(16).fill("a".repeat(249)), number].join("/")
        : `${number}\0${"x".repeat(8000)}`;
    const archive = tarOf([{ path, type: type as "0" }]);
    archive.write(header, 156);
    mendChecksum(archive);
    for await (const entry of readTar(chunksOf(archive), "layer")) {
      tree.add(header === "K" ? { ...entry, path: number } : entry, 0, CONTENT, "layer");
    }
  }
  expect(heapAfterCollection() - before).toBeLessThan(2 ** 23);
  expect(tree.root.children?.size).toBeGreaterThan(0);
});

/** Returns the size of all objects in use, in bytes. */
function heapAfterCollection(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed;
}

async function* chunksOf(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
