/** Images that the command creates: what is in them, and that they are the same everywhere. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";

import { noise } from "../../../../tests/support/snapshots/image.js";
import { minutes, trials } from "../../../../tests/support/trials.js";
import { BIN, hedgerow, hedgerowProcess } from "../support/bin.js";
import { digestOf, type Member, randomLayers, tarOf, writeLayout } from "../support/layers.js";
import { startRegistry } from "../support/registry.js";
import { makeTree } from "../support/tree.js";
import { changeImage, checkImage, listImage, listOf, run } from "../support/trees.js";

/** Options for images that are written fast. */
const SMALL = ["--free", "0"];

/** Options for images that later layers fit in. */
const ROOMY = ["--free", "32MiB"];

const CONFIG = { Entrypoint: ["/init"], Cmd: ["-v"], Env: ["A=b"], User: "me", WorkingDir: "/srv" };

/** Runs the command. Returns what it prints. */
async function image(...args: string[]) {
  const { code, out, err } = await hedgerow(["image", "create", ...args, "--json"]);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return JSON.parse(out);
}

/** An image may have more bytes than a buffer. */
const fileDigest = (path: string) => run("b2sum", path).slice(0, 128);

/** Returns the seeds of the trees of each image: `few` in one image in `npm test`, and five in each in `npm run verify`. */
function imagesOf(few: number, all: number): { readonly seeds: readonly number[] }[] {
  const [count, size] = [trials({ few, all }), trials({ few, all: 5 })];
  return Array.from({ length: count / size }, (_, image) => ({
    seeds: Array.from({ length: size }, (_, tree) => image * size + tree),
  }));
}

test.each(imagesOf(20, 200))(
  "holds what umoci unpacks of random trees $seeds",
  async ({ seeds }) => {
    const root = makeTree();
    const layout = writeLayout(join(root, "layout"), randomLayers(...seeds).map(tarOf));
    await image(`oci:${layout}`, join(root, "image"), ...SMALL);
    checkImage(join(root, "image"));
    run("umoci", "unpack", "--image", `${layout}:latest`, join(root, "bundle"));
    const found = listImage(join(root, "image"), join(root, "mounted"));
    expect(found).toEqual(listOf(join(root, "bundle", "rootfs")));
  },
);

test(
  "is the same on two days, in two folders, as root and in a user namespace",
  minutes({ all: 2 }),
  async () => {
    const root = makeTree({ "other folder/": "" });
    const layers = randomLayers(3).map(tarOf);
    const layout = writeLayout(join(root, "layout"), layers, { config: CONFIG });
    const images = ["one", "other folder/two", "three"].map((name) => join(root, name));
    const users = [
      [],
      ["faketime", "2031-05-06 07:08:09"],
      ["unshare", "--user", "--map-root-user"],
    ];
    for (const [index, path] of images.entries()) {
      const command = [process.execPath, BIN, "image", "create", `oci:${layout}`, path, ...SMALL];
      const [program = "", ...args] = [...users[index]!, ...command];
      run(program, ...args);
    }
    expect(new Set(images.map(fileDigest)).size).toBe(1);
  },
);

test("is the same for a layout, an archive of docker save and an archive of a layout", async () => {
  const root = makeTree();
  const layers = randomLayers(4).map(tarOf);
  const layout = writeLayout(join(root, "layout"), layers, { config: CONFIG, tag: "1.0" });
  const [docker, oci] = [join(root, "docker.tar"), join(root, "oci.tar")];
  const copy = ["--insecure-policy", "copy", "--quiet", `oci:${layout}:1.0`];
  run("skopeo", ...copy, `docker-archive:${docker}:name:1.0`);
  run("skopeo", ...copy, `oci-archive:${oci}:1.0`);
  const colons = join(root, "a:b");
  mkdirSync(colons);
  for (const archive of [docker, oci]) run("cp", archive, `${archive}:1`);
  const sources = [
    ...[`oci:${layout}`, `oci:${layout}:1.0`],
    ...[docker, `${docker}:1`, `docker-archive:${docker}:name:1.0`],
    ...[oci, `${oci}:1`, `oci-archive:${relative(".", oci)}`],
  ];
  const digests: string[] = [];
  for (const source of sources) {
    const path = join(colons, "image");
    const { config } = await image(source, path, ...SMALL);
    expect(config).toEqual({
      entrypoint: ["/init"],
      cmd: ["-v"],
      env: ["A=b"],
      user: "me",
      workingDir: "/srv",
      layers: layers.map((layer) => `sha256:${digestOf(layer)}`),
    });
    digests.push(fileDigest(path));
  }
  expect(new Set(digests).size).toBe(1);
});

test.each([
  ["a list of icons", '[{ "src": "icon.png" }]'],
  ["an object", '{ "Config": "", "Layers": [] }'],
  ["no JSON", "["],
  ["more than the limit", `[{ "Config": "", "Layers": [] }]${" ".repeat(2 ** 22)}`],
])("takes an archive of a web app for files: its manifest.json has %s", async (_what, json) => {
  const root = makeTree();
  const members = ["./index.html", "./manifest.json"].map((path) => ({
    path,
    content: Buffer.from(json),
  }));
  writeFileSync(join(root, "app.tar"), tarOf(members));
  await image(join(root, "app.tar"), join(root, "image"), ...SMALL);
  const found = listImage(join(root, "image"), join(root, "mounted"));
  expect(Object.keys(found).sort()).toEqual(["", "/index.html", "/manifest.json"]);
});

test("is the same for a folder whose files have holes and one whose files have none", async () => {
  const root = makeTree({ "holes/": "", "zeros/": "" });
  const piece = 4096;
  const content = Buffer.alloc(10_000 * piece);
  for (let at = 0; at < content.length; at += 2 * piece) content.fill(1, at, at + piece);
  writeFileSync(join(root, "zeros", "file"), content);
  run("cp", "--sparse=always", join(root, "zeros", "file"), join(root, "holes", "file"));
  const digests: string[] = [];
  for (const name of ["holes", "zeros"]) {
    for (const path of [join(root, name, "file"), join(root, name)]) utimesSync(path, 1, 1);
    await image(join(root, name), join(root, "image"), ...SMALL);
    digests.push(fileDigest(join(root, "image")));
  }
  expect(statSync(join(root, "holes", "file")).blocks).toBeLessThan(
    statSync(join(root, "zeros", "file")).blocks,
  );
  expect(new Set(digests).size).toBe(1);
});

test("tells the guest how the image is started", async () => {
  const root = makeTree();
  const layout = writeLayout(join(root, "layout"), [tarOf([])], { config: CONFIG });
  const { config } = await image(`oci:${layout}`, join(root, "image"), ...SMALL);
  const text = run("debugfs", "-R", "cat /.hedgerow/image.json", join(root, "image"));
  expect(JSON.parse(text)).toEqual(config);
});

test("holds a folder with all that tar keeps, and an archive of it", async () => {
  const root = makeTree({ "tree/empty": "", "tree/a/file": noise("file", 100_000), "out/": "" });
  const tree = join(root, "tree");
  run("ln", join(tree, "a/file"), join(tree, "link"));
  run("mkfifo", join(tree, "fifo"));
  run("mknod", join(tree, "device"), "c", "300", "70000");
  run("chown", "70000:80000", join(tree, "empty"));
  writeFileSync(join(tree, "sparse"), "");
  truncateSync(join(tree, "sparse"), 2 ** 23);
  writeFileSync(join(tree, "sparse"), noise("sparse", 5000), { flag: "r+" });
  truncateSync(join(tree, "sparse"), 2 ** 23);
  await image(tree, join(root, "image"), ...SMALL);
  checkImage(join(root, "image"));
  const expected = listOf(tree);
  expect(listImage(join(root, "image"), join(root, "mounted"))).toEqual(expected);

  for (const [name, args] of [
    ["tree.tar", ["--sparse", "--format=gnu"]],
    ["tree.tar.gz", ["--sparse", "--format=posix", "--gzip"]],
    ["tree.tar.zst", ["--sparse", "--format=posix", "--sparse-version=0.0", "--zstd"]],
    ["tree.tar.xz", ["--sparse", "--format=posix", "--sparse-version=0.1", "--xz"]],
  ] as const) {
    run("tar", ...args, "-C", tree, "-cf", join(root, name), ".");
    await image(join(root, name), join(root, "image"), ...SMALL);
    const found = listImage(join(root, "image"), join(root, "mounted"));
    // The oldest format has no fractions of seconds.
    const timeless = (list: typeof found) =>
      Object.values(list).map(({ time, ...others }) => ({
        ...others,
        time: Math.floor(time / 1e9),
      }));
    expect(timeless(found), name).toEqual(timeless(expected));
  }
});

test("with --no-overwrite, creates an image on a file system without links, and replaces none", () => {
  const root = makeTree({ "tree/file": "content" });
  const [calls, path] = [join(root, "calls"), join(root, "image")];
  const inject = ["-e", "trace=link,linkat", "-e", "inject=link,linkat:error=EPERM"];
  const command = [process.execPath, BIN, "image", "create", join(root, "tree"), path];
  const create = () =>
    run("strace", "-f", "-qq", "-o", calls, ...inject, ...command, "--no-overwrite", ...SMALL);
  create();
  expect(readFileSync(calls, "utf8")).toContain("EPERM");
  checkImage(path);
  const before = fileDigest(path);
  expect(create).toThrow();
  expect(fileDigest(path)).toBe(before);
});

test("refuses a folder in which the image is made", async () => {
  const root = makeTree({
    "tree/below/file": "content",
    "tree/..other/file": "content",
    "tree beside/": "",
    link: { link: "tree/below" },
    image: { link: "tree/below/file" },
  });
  const path = (name: string) => join(root, name);
  const refuse = async (destination: string, source = "tree", made = dirname(destination)) => {
    const args = ["image", "create", path(source), destination, ...SMALL];
    // Node reads TMPDIR of the process itself.
    const { code, err } = await hedgerowProcess(args, "", { TMPDIR: path("tree/below") });
    const reason = `expected a folder without the image, which is made in ${made}`;
    expect({ code, err }).toEqual({ code: 3, err: `hedgerow: ${path(source)}: ${reason}\n` });
  };
  await refuse(path("tree/image"));
  await refuse(path("tree/below/image.vhs"));
  await refuse(path("tree/..other/image"));
  await refuse(path("tree/below/image"), "link");
  await refuse(path("link/image"));
  await refuse(path("image"), "tree", path("tree/below"));
  await refuse("http://127.0.0.1:1/image.vhs", "tree", path("tree/below"));
  expect(run("find", path("tree"), "-type", "f").trim().split("\n")).toHaveLength(2);
  await image(path("tree"), path("tree beside/image"), ...SMALL);
  await image(path("tree/below"), path("tree/image"), ...SMALL);
});

test.each(["image", "image.vhs"])("follows a link at the destination: %s", async (name) => {
  const root = makeTree({
    "tree/file": "content",
    [`other/${name}`]: "old",
    [name]: { link: `other/${name}` },
    [`dangling-${name}`]: { link: "nothing" },
  });
  await image(join(root, "tree"), join(root, name), ...SMALL);
  expect(readlinkSync(join(root, name))).toBe(`other/${name}`);
  expect(readdirSync(join(root, "other"))).toEqual([name]);
  expect(statSync(join(root, "other", name)).size).toBeGreaterThan(1000);
  const dangling = join(root, `dangling-${name}`);
  const { code, err } = await hedgerow(["image", "create", join(root, "tree"), dangling]);
  const reason = "expected a file or nothing, found a dangling link";
  expect({ code, err }).toEqual({ code: 3, err: `hedgerow: ${dangling}: ${reason}\n` });
  expect(readlinkSync(dangling)).toBe("nothing");
});

test("fetches an image from a registry", async () => {
  const root = makeTree();
  const path = (name: string) => join(root, name);
  const layout = writeLayout(path("layout"), randomLayers(5).map(tarOf), { config: CONFIG });
  await using registry = await startRegistry(root);
  const { HOME, address } = registry;
  const name = `docker://${address}/name:1.0`;
  const copy = ["--insecure-policy", "copy", "--quiet", "--dest-tls-verify=false"];
  run("skopeo", ...copy, `oci:${layout}`, name);
  const args = ["image", "create", name, path("fetched"), ...SMALL];
  expect(await hedgerow(args, "", { HOME })).toMatchObject({ code: 0, err: "" });
  await image(`oci:${layout}`, path("image"), ...SMALL);
  expect(fileDigest(path("fetched"))).toBe(fileDigest(path("image")));

  const none = ["image", "create", `docker://${address}/none`, path("none")];
  const { code, err } = await hedgerow(none, "", { HOME });
  expect(code).toBe(3);
  expect(err).toContain("manifest unknown");
  expect(existsSync(path("none"))).toBe(false);
});

test("writes the new layer only, when it is made on its base", async () => {
  const root = makeTree();
  const lower: Member[] = [{ path: "./", type: "5", mode: 0o755 }];
  for (let index = 0; index < 200; index += 1) {
    lower.push({ path: `file ${index}`, content: noise(`lower ${index}`, 100 * index) });
  }
  const upper: Member[] = [
    { path: "file 7", content: noise("changed", 9000) },
    { path: ".wh.file 100" },
    { path: "a new one", content: noise("new", 500_000) },
  ];
  const [below, above] = [tarOf(lower), tarOf(upper)];
  const path = (name: string) => join(root, name);
  const one = writeLayout(path("one"), [below]);
  const two = writeLayout(path("two"), [below, above]);
  const free = ["--free", "16MiB"];
  await image(`oci:${one}`, path("one.vhs"), ...free);
  const base = ["--base", path("one.vhs"), ...free];
  const { snapshot } = await image(`oci:${two}`, path("two.vhs"), ...base);
  expect(snapshot.delta.ownBytes).toBeLessThan(1.1 * above.length);

  expect(await hedgerow(["snapshot", "restore", path("two.vhs"), path("two.img")])).toMatchObject({
    code: 0,
  });
  checkImage(path("two.img"));
  await image(`oci:${two}`, path("alone.img"), ...free);
  const alone = listImage(path("alone.img"), path("mounted"));
  expect(listImage(path("two.img"), path("mounted"))).toEqual(alone);

  // The base as a raw image gives the same.
  await hedgerow(["snapshot", "restore", path("one.vhs"), path("one.img")]);
  await image(`oci:${two}`, path("raw.img"), "--base", path("one.img"), ...free);
  expect(fileDigest(path("raw.img"))).toBe(fileDigest(path("two.img")));
}, 120_000);

test.each(imagesOf(5, 40))(
  "is the same on its base as without it, of random trees $seeds",
  async ({ seeds }) => {
    const root = makeTree();
    const path = (name: string) => join(root, name);
    const layers = randomLayers(...seeds.map((seed) => seed + 1000)).map(tarOf);
    const lower = layers.slice(0, 1 + (seeds.length % layers.length));
    const one = writeLayout(path("one"), lower);
    const two = writeLayout(path("two"), layers, { config: CONFIG });
    await image(`oci:${one}`, path("one.img"), ...ROOMY);
    await image(`oci:${two}`, path("alone.img"), ...ROOMY);
    await image(`oci:${two}`, path("two.img"), "--base", path("one.img"), ...ROOMY);
    checkImage(path("two.img"));
    const expected = listImage(path("alone.img"), path("mounted"));
    expect(listImage(path("two.img"), path("mounted"))).toEqual(expected);
  },
);

test("holds large directories, and files in many pieces", async () => {
  const root = makeTree();
  const path = (name: string) => join(root, name);
  const members: Member[] = [{ path: "./", type: "5", mode: 0o755 }];
  // Lists of extents in the inode, in one block, and in so many that they need a list, too.
  for (const runs of [4, 5, 341, 1500]) {
    const map = Array.from({ length: runs }, (_, run) => [run * 3 * 4096, 4096]).flat();
    const sparse = { map, size: runs * 3 * 4096 };
    members.push({ path: `${runs} runs`, content: noise(`${runs}`, runs * 4096), sparse });
  }
  // Each run of two bytes is in two blocks.
  const runs = 10_000;
  const map = Array.from({ length: runs }, (_, run) => [run * 3 * 4096 + 4095, 2]).flat();
  const sparse = { map, size: runs * 3 * 4096 };
  members.push({ path: "small runs", content: Buffer.alloc(2 * runs, 1), sparse });
  members.push({ path: "zeros", content: Buffer.alloc(100_000) });
  members.push({ path: "names/", type: "5", mode: 0o755 });
  for (let index = 0; index < 500; index += 1) {
    members.push({ path: `names/${`${index} `.padEnd(200, "long")}` });
  }
  const layout = writeLayout(path("layout"), [tarOf(members)]);
  await image(`oci:${layout}`, path("image"), ...SMALL);
  checkImage(path("image"));
  run("umoci", "unpack", "--image", `${layout}:latest`, path("bundle"));
  const found = listImage(path("image"), path("mounted"));
  expect(found).toEqual(listOf(join(path("bundle"), "rootfs")));
});

test("holds many small files, the last of which would be in a group that mke2fs leaves out", async () => {
  const root = makeTree();
  const members: Member[] = [{ path: "./", type: "5", mode: 0o755 }];
  for (let index = 0; index < 29_800; index += 1) {
    members.push({ path: `${index % 300}/${index}`, content: Buffer.from("x") });
  }
  writeFileSync(join(root, "files.tar"), tarOf(members));
  await image(join(root, "files.tar"), join(root, "image"), ...SMALL);
});

test("is sound after the kernel has written to it", async () => {
  const root = makeTree({ "tree/file": noise("file", 10_000), "mounted/": "" });
  const [path, mounted] = [join(root, "image"), join(root, "mounted")];
  await image(join(root, "tree"), path, "--free", "64MiB");
  await changeImage(path, mounted, () => {
    run("rm", join(mounted, "file"));
    for (let index = 0; index < 500; index += 1) {
      writeFileSync(join(mounted, `file ${index}`), noise(`${index}`, 1000 * (index % 90)));
    }
  });
  checkImage(path);
  expect(Object.keys(listImage(path, mounted))).toHaveLength(501);
});

test("says what to do if a base has no room for the new layers", async () => {
  const root = makeTree();
  const path = (name: string) => join(root, name);
  const below = tarOf([{ path: "./", type: "5", mode: 0o755 }]);
  const above = tarOf([{ path: "large", content: Buffer.alloc(2 ** 24, "large") }]);
  const one = writeLayout(path("one"), [below]);
  const two = writeLayout(path("two"), [below, above]);
  await image(`oci:${one}`, path("one.img"), ...SMALL);
  const args = ["image", "create", `oci:${two}`, path("two.img"), "--base", path("one.img")];
  const { code, err } = await hedgerow(args);
  expect(code).toBe(3);
  expect(err).toMatch(/make the base with a larger --free, or leave out --base\n$/);
  expect(existsSync(path("two.img"))).toBe(false);
});

test("makes private images, also of a base that is read-only", async () => {
  const root = makeTree();
  const path = (name: string) => join(root, name);
  const [below, above] = [tarOf([{ path: "one" }]), tarOf([{ path: "two" }])];
  const one = writeLayout(path("one"), [below]);
  const two = writeLayout(path("two"), [below, above]);
  await image(`oci:${one}`, path("one.img"), ...SMALL);
  expect(statSync(path("one.img")).mode & 0o777).toBe(0o600);
  chmodSync(path("one.img"), 0o444);
  // Root could write to all files.
  const limited = ["--bounding-set=-dac_override", process.execPath, BIN, "image", "create"];
  run("setpriv", ...limited, `oci:${two}`, path("two.img"), "--base", path("one.img"));
  expect(statSync(path("two.img")).mode & 0o777).toBe(0o600);
  expect(statSync(path("one.img")).mode & 0o777).toBe(0o444);
});

test("refuses a base that is not the beginning of the image", async () => {
  const root = makeTree({ other: "" });
  const path = (name: string) => join(root, name);
  const [one, two] = [1, 2].map((seed) =>
    writeLayout(path(`layout-${seed}`), randomLayers(seed).map(tarOf)),
  );
  await image(`oci:${one}`, path("one.img"), ...SMALL);
  truncateSync(path("other"), 2 ** 24);
  run("mke2fs", "-q", "-t", "ext4", path("other"));
  for (const [base, expected] of [
    ["one.img", `expected an image of the first layers of oci:${two}`],
    ["other", "expected an image that hedgerow made of an image of a container"],
  ] as const) {
    const args = [`oci:${two}`, path("image"), "--base", path(base)];
    const { code, err } = await hedgerow(["image", "create", ...args]);
    expect({ code, err }).toEqual({
      code: 3,
      err: `hedgerow: --base ${path(base)}: ${expected}\n`,
    });
    expect(existsSync(path("image"))).toBe(false);
  }
});

test("writes the same read-only file system with --format erofs", async () => {
  const root = makeTree();
  const layout = writeLayout(join(root, "layout"), randomLayers(6).map(tarOf));
  const [one, two] = [join(root, "one"), join(root, "two")];
  await image(`oci:${layout}`, join(root, "ext4"), ...SMALL);
  await image(`oci:${layout}`, one, "--format", "erofs", ...SMALL);
  await image(`oci:${layout}`, two, "--format", "erofs", ...SMALL);
  expect(fileDigest(one)).toBe(fileDigest(two));
  const contents = (path: string) =>
    Object.entries(listImage(path, join(root, "mounted"))).map(
      ([name, { mode, owner, content }]) => [name, { mode, owner, content }],
    );
  expect(contents(one)).toEqual(contents(join(root, "ext4")));
});
