/** Other files in place of images and snapshots, made by the programs that people make them with. */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createSnapshot, DiskStore, inspectSnapshot } from "@hedgerow/snapshot";
import { beforeAll, expect, onTestFinished, test } from "vitest";

import { closed, serve } from "../../../tests/support/http/listen.js";
import { temporaryFolder } from "../../../tests/support/snapshots/folder.js";
import { letters } from "../../../tests/support/snapshots/image.js";
import { refusalOf } from "./support/refusal.js";
import { roundTripIn } from "./support/round-trip.js";

const path = temporaryFolder();
const roundTrip = roundTripIn(path);
const image = path("disk.img");

const PAGE = "<!DOCTYPE HTML>\n<title>Sign in</title>";

/** Makes compressed files and archives of an image. */
const PYTHON = `
import bz2, gzip, lzma, sys, tarfile, zipfile
folder, image = sys.argv[1:]
for module, end in (gzip, "gz"), (bz2, "bz2"), (lzma, "xz"):
    with module.open(folder + "/file." + end, "wb") as file: file.write(open(image, "rb").read())
with zipfile.ZipFile(folder + "/file.zip", "w") as file: file.write(image, "disk.img")
with tarfile.open(folder + "/file.tar", "w") as file: file.add(image, "disk.img")
`;

beforeAll(async () => {
  writeFileSync(image, letters("types", 64 * 1024));
  for (const format of ["qcow2", "vmdk", "vhdx", "vdi", "vpc"]) {
    const args = ["convert", "-f", "raw", "-O", format, image, path(`file.${format}`)];
    execFileSync("qemu-img", args);
  }
  const fixed = ["-o", "subformat=fixed,force_size", image, path("file.vhd")];
  execFileSync("qemu-img", ["convert", "-f", "raw", "-O", "vpc", ...fixed]);
  const split = ["-o", "subformat=monolithicFlat", image, path("file.vmdk-text")];
  execFileSync("qemu-img", ["convert", "-f", "raw", "-O", "vmdk", ...split]);
  execFileSync("python3", ["-c", PYTHON, path(), image]);
  execFileSync("zstd", ["-q", image, "-o", path("file.zst")]);
  await createSnapshot(image, path("file.vhs"));
  writeFileSync(path("file.html"), PAGE);
});

const CONTAINERS = [
  ["qcow2", "a qcow2 image", "qemu-img convert -O raw"],
  ["vmdk", "a VMDK image", "qemu-img convert -O raw"],
  ["vmdk-text", "the description of a VMDK image", "qemu-img convert -O raw"],
  ["vhdx", "a VHDX image", "qemu-img convert -O raw"],
  ["vdi", "a VDI image", "qemu-img convert -O raw"],
  ["vpc", "a VHD image", "qemu-img convert -O raw"],
  ["vhd", "a VHD image of fixed size", "qemu-img convert -O raw"],
  ["gz", "a gzip file", "gzip -dc FILE"],
  ["bz2", "a bzip2 file", "bzip2 -dc FILE"],
  ["xz", "an xz file", "xz -dc FILE"],
  ["zst", "a zstd file", "zstd -dc FILE"],
  ["zip", "a zip archive", "extract"],
  ["tar", "a tar archive", "extract"],
  ["html", "a web page", "the address"],
  ["vhs", "a snapshot", "hedgerow snapshot restore FILE"],
] as const;

test.each(CONTAINERS)(
  "refuses a .%s file as an image, and says how to make one",
  async (end, name, way) => {
    const target = path(`${end}.vhs`);
    const { message } = await refusalOf(createSnapshot(path(`file.${end}`), target), "ERR_IMAGE");
    expect(message).toContain(`file.${end}: expected a raw disk image, found ${name}`);
    expect(message).toContain(way);
    expect(message).toMatch(/; to store the file as it is, pass format: "raw"$/);
    expect(existsSync(target)).toBe(false);
  },
);

test("refuses such a file as the image of a new disk, and leaves no disk", async () => {
  await using store = await DiskStore.open(path("store"), { images: path("images") });
  const options = { image: path("file.qcow2") };
  const { message } = await refusalOf(store.create("a", options), "ERR_IMAGE");
  expect(message).toContain("found a qcow2 image");
  await refusalOf(store.stat("a"), "ERR_NO_DISK");
  await store.create("a", { ...options, format: "raw" });
  expect((await store.stat("a")).size).toBe(statSync(path("file.qcow2")).size);
});

test("stores any file as it is with format: raw", async () => {
  await roundTrip(readFileSync(path("file.qcow2")), { format: "raw" });
  for (const format of ["qcow2", 1, null]) {
    const creating = createSnapshot(image, path("none.vhs"), { format } as never);
    const { message } = await refusalOf(creating, "ERR_ARGUMENT");
    expect(message).toMatch(/^format: expected "raw", found /);
  }
});

test("says of any other file that it is not a snapshot, and what it is", async () => {
  execFileSync("mke2fs", ["-q", "-t", "ext2", path("ext.img"), "1M"]);
  writeFileSync(path("nothing"), "");
  writeFileSync(path("random"), letters("random", 70_000));
  const others = [
    ["ext.img", "a raw image of an ext2, ext3 or ext4 file system"],
    ["nothing", "an empty file"],
    ["random", "another file"],
    // Its first bytes are those of the raw image.
    ["file.vhd", "another file"],
    ...CONTAINERS.filter(([end]) => !["vhd", "vhs"].includes(end)).map(([end, name]) => [
      `file.${end}`,
      name,
    ]),
  ];
  for (const [file, name] of others) {
    const error = await refusalOf(inspectSnapshot(path(file!)), "ERR_SNAPSHOT_FORMAT");
    expect(error.message).toContain(`${file}: expected a snapshot, found ${name}`);
    expect(error.field).toBeDefined();
  }
});

test("says that the end of a snapshot is missing", async () => {
  const cut = path("cut.vhs");
  copyFileSync(path("file.vhs"), cut);
  truncateSync(cut, statSync(cut).size - 1);
  const { message, field } = await refusalOf(inspectSnapshot(cut), "ERR_SNAPSHOT_FORMAT");
  expect(message).toContain("cut.vhs: the end of the snapshot is missing or damaged: magic number");
  expect(field).toBe("magic number of the footer");
});

test("says that a server sent a web page", async () => {
  const { server, url } = await serve((_, response) => response.end(PAGE));
  onTestFinished(() => closed(server));
  const { message } = await refusalOf(inspectSnapshot(url), "ERR_SNAPSHOT_FORMAT");
  expect(message).toContain("expected a snapshot, found a web page, such as that of a login");
});

test("says how to read a device and a pipe", async () => {
  for (const [file, hint] of [
    ["/dev/null", "found a device; copy it to a file: dd if=/dev/null of=FILE"],
    [path("pipe"), "found a pipe; write it to a file first"],
  ] as const) {
    if (file !== "/dev/null") execFileSync("mkfifo", [file]);
    const { message } = await refusalOf(createSnapshot(file, path("none.vhs")), "ERR_IMAGE");
    expect(message).toContain(hint);
  }
});
