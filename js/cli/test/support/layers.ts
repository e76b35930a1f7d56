/** Layers of images for tests: tar archives, OCI layouts, and random trees in them. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { seededRandom } from "../../../../tests/origin/random.mjs";
import { noise } from "../../../../tests/support/snapshots/image.js";

/** A member of an archive. Names are strings of bytes. */
export interface Member {
  readonly path: string;
  /** The type in the header. Default: a file. */
  readonly type?: "0" | "1" | "2" | "3" | "4" | "5" | "6" | "Z";
  readonly mode?: number;
  readonly owner?: readonly [uid: number, gid: number];
  /** Modification time, in seconds with a fraction. */
  readonly time?: string;
  readonly target?: string;
  readonly device?: readonly [major: number, minor: number];
  readonly xattrs?: Readonly<Record<string, Buffer>>;
  readonly content?: Buffer;
  /** The offsets and lengths of runs of data in a sparse file, and its size. */
  readonly sparse?: { readonly map: readonly number[]; readonly size: number };
}

const BLOCK = 512;

/** Returns an archive in which all fields are in headers of PAX. */
export function tarOf(members: readonly Member[]): Buffer {
  const end = Buffer.alloc(2 * BLOCK);
  return Buffer.concat([...members.flatMap((member) => memberOf(member)), end]);
}

function memberOf(member: Member): Buffer[] {
  const {
    path,
    type = "0",
    owner: [uid, gid] = [0, 0],
    time = "0",
    target,
    xattrs = {},
    sparse,
  } = member;
  const content = member.content ?? Buffer.alloc(0);
  const records = [
    record("path", Buffer.from(path, "latin1")),
    ...(target === undefined ? [] : [record("linkpath", Buffer.from(target, "latin1"))]),
    ...[record("uid", Buffer.from(`${uid}`)), record("gid", Buffer.from(`${gid}`))],
    record("mtime", Buffer.from(time)),
    ...Object.entries(xattrs).map(([name, value]) => record(`SCHILY.xattr.${name}`, value)),
  ];
  if (sparse !== undefined) {
    records.push(record("GNU.sparse.size", Buffer.from(`${sparse.size}`)));
    records.push(record("GNU.sparse.numblocks", Buffer.from(`${sparse.map.length / 2}`)));
    records.push(record("GNU.sparse.map", Buffer.from(sparse.map.join(","))));
  }
  const extra = Buffer.concat(records);
  const device = member.device ?? [0, 0];
  const facts = { mode: member.mode ?? 0o644, device };
  return [
    ...[header("x", extra.length, { mode: 0o644, device: [0, 0] }), padded(extra)],
    ...[header(type, content.length, facts), padded(content)],
  ];
}

function record(key: string, value: Buffer): Buffer {
  const length = key.length + value.length + 3;
  let digits = `${length}`.length;
  if (`${length + digits}`.length > digits) digits += 1;
  return Buffer.concat([Buffer.from(`${length + digits} ${key}=`), value, Buffer.from("\n")]);
}

function header(
  type: string,
  size: number,
  { mode, device }: { readonly mode: number; readonly device: readonly [number, number] },
): Buffer {
  const block = Buffer.alloc(BLOCK);
  const number = (offset: number, length: number, value: number) =>
    block.write(`${value.toString(8).padStart(length - 1, "0")}\0`, offset, "latin1");
  block.write("name", 0);
  number(100, 8, mode);
  number(124, 12, size);
  block.write(type, 156);
  block.write("ustar\x0000", 257, "latin1");
  number(329, 8, device[0]);
  number(337, 8, device[1]);
  mendChecksum(block);
  return block;
}

/** Writes the checksum of a changed header. */
export function mendChecksum(header: Buffer): void {
  if (header.toString("latin1", 257, 262) !== "ustar") return;
  header.fill(" ", 148, 156);
  const sum = header.subarray(0, BLOCK).reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
}

function padded(content: Buffer): Buffer {
  return Buffer.concat([content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)]);
}

/** What is wrong with a layout, or special about it. */
export interface LayoutOptions {
  readonly tag?: string;
  /** The configuration of the program. */
  readonly config?: object;
  /** Media types in place of the usual ones. */
  readonly layerType?: string;
  readonly configType?: string;
  readonly diffIds?: readonly string[];
}

export const digestOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

/** Writes an OCI layout with one image. Returns its folder. */
export function writeLayout(
  folder: string,
  layers: readonly Buffer[],
  options: LayoutOptions = {},
): string {
  const blobs = join(folder, "blobs", "sha256");
  mkdirSync(blobs, { recursive: true });
  const blob = (mediaType: string, bytes: Buffer) => {
    writeFileSync(join(blobs, digestOf(bytes)), bytes);
    return { mediaType, digest: `sha256:${digestOf(bytes)}`, size: bytes.length };
  };
  const json = (type: string, value: object) =>
    blob(`application/vnd.oci.image.${type}.v1+json`, Buffer.from(JSON.stringify(value)));
  const diffIds = options.diffIds ?? layers.map((layer) => `sha256:${digestOf(layer)}`);
  const config = json("config", {
    architecture: "amd64",
    os: "linux",
    config: options.config ?? {},
    rootfs: { type: "layers", diff_ids: diffIds },
  });
  const layerType = options.layerType ?? "application/vnd.oci.image.layer.v1.tar+gzip";
  const manifest = json("manifest", {
    schemaVersion: 2,
    config: { ...config, mediaType: options.configType ?? config.mediaType },
    layers: layers.map((layer) => blob(layerType, gzipSync(layer, { level: 1 }))),
  });
  const annotations = { "org.opencontainers.image.ref.name": options.tag ?? "latest" };
  const index = { schemaVersion: 2, manifests: [{ ...manifest, annotations }] };
  writeFileSync(join(folder, "index.json"), JSON.stringify(index));
  writeFileSync(join(folder, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  return folder;
}

/** A capability to bind ports, as the kernel keeps it. */
const CAPABILITY = Buffer.from("0100000200040000000000000000000000000000", "hex");

/**
 * Returns the layers of a random tree: each changes, removes and hides parts of those below. Several trees are in folders
 * of one image.
 */
export function randomLayers(...seeds: readonly number[]): Member[][] {
  const [first = 0, ...others] = seeds;
  if (others.length === 0) return layersOf(first);
  const trees = seeds.map((seed) => layersOf(seed).map((layer) => within(`tree ${seed}/`, layer)));
  const count = Math.max(...trees.map((layers) => layers.length));
  return Array.from({ length: count }, (_, at) => trees.flatMap((layers) => layers[at] ?? []));
}

/** Returns members that are moved into a folder. */
function within(folder: string, members: readonly Member[]): Member[] {
  return members.map((member) => ({
    ...member,
    path: `${folder}${member.path === "./" ? "" : member.path}`,
    ...(member.type === "1" ? { target: `${folder}${member.target}` } : {}),
  }));
}

/** Returns the layers of one random tree. */
function layersOf(seed: number): Member[][] {
  const random = seededRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(items: readonly T[]): T => items[below(items.length)]!;
  const chance = (share: number) => random() < share;
  /** The type of each path in the tree so far. */
  const paths = new Map<string, Member["type"]>();
  const remove = (path: string) => {
    for (const each of [...paths.keys()]) {
      if (each === path || each.startsWith(`${path}/`)) paths.delete(each);
    }
  };
  const directories = () => [
    "",
    ...[...paths].flatMap(([path, type]) => (type === "5" ? path : [])),
  ];
  const name = (): string => {
    if (chance(0.5)) return pick(["a", "b", "c", "etc", "lib", "usr"]);
    const bytes = Array.from({ length: 1 + below(chance(0.05) ? 255 : 6) }, () => 1 + below(255));
    const text = String.fromCharCode(...bytes).replaceAll("/", "_");
    return text.startsWith(".") ? `_${text.slice(1)}` : text;
  };
  const pathIn = (folder: string) => (folder === "" ? name() : `${folder}/${name()}`);
  const facts = () => ({
    mode: pick([0o644, 0o755, 0o4755, 0o2755, 0o1777, 0, 0o600, 0o7777]),
    owner: [
      pick([0, 1, 1000, 65_534, 65_536, 100_000, 2 ** 31, 2 ** 32 - 2]),
      below(70_000),
    ] as const,
    time: `${below(2 ** 31)}.${`${below(1e9)}`.padStart(9, "0")}`,
  });
  const xattrs = (): Record<string, Buffer> => ({
    // To Go, an attribute without a value is none.
    ...(chance(0.2) ? { "user.note": noise(`note ${seed} ${random()}`, 1 + below(60)) } : {}),
    ...(chance(0.1) ? { "trusted.large": noise(`large ${seed}`, 100 + below(2000)) } : {}),
  });
  const content = (): Pick<Member, "content" | "sparse"> => {
    if (chance(0.15)) {
      const map = [below(5000), 1 + below(9000), 20_000 + below(200_000), 1 + below(5000)];
      const size = 300_000 + below(2 ** 20);
      return { content: noise(`sparse ${seed}`, map[1]! + map[3]!), sparse: { map, size } };
    }
    return { content: noise(`${seed} ${random()}`, chance(0.1) ? below(300_000) : below(6000)) };
  };
  const member = (): Member => {
    const path = pathIn(pick(directories()));
    const type = pick(["0", "0", "0", "0", "5", "5", "5", "2", "1", "3", "4", "6"] as const);
    const files = [...paths].flatMap(([each, kind]) => (kind === "0" ? each : []));
    if (type === "1") {
      const others = files.filter((each) => !each.startsWith(`${path}/`) && each !== path);
      if (others.length > 0) return { path, type, target: pick(others), ...facts() };
    }
    if (type === "2") {
      const target = pick([
        "a",
        "../b",
        "/etc/passwd",
        "x".repeat(59),
        "y".repeat(60),
        "z".repeat(3000),
      ]);
      return { path, type, target, ...facts() };
    }
    if (type === "3" || type === "4") {
      return {
        path,
        type,
        device: [below(pick([8, 4000])), below(pick([8, 2 ** 20]))],
        ...facts(),
      };
    }
    if (type === "5") return { path: `${path}/`, type, ...facts(), xattrs: xattrs() };
    if (type === "6") return { path, type, ...facts() };
    const capability = chance(0.1) ? { "security.capability": CAPABILITY } : {};
    return { path, type: "0", ...facts(), xattrs: { ...xattrs(), ...capability }, ...content() };
  };
  return Array.from({ length: 1 + below(4) }, (_, layer) => {
    const members: Member[] = layer === 0 ? [{ path: "./", type: "5", ...facts() }] : [];
    const own = new Set<string>();
    for (let count = 10 + below(40); count > 0; count -= 1) {
      const lower = [...paths.keys()].filter((path) => !own.has(path));
      if (layer > 0 && lower.length > 0 && chance(0.25)) {
        const path = pick(lower);
        const folder = path.slice(0, Math.max(0, path.lastIndexOf("/") + 1));
        const isOpaque = paths.get(path) === "5" && chance(0.5);
        members.push({
          path: isOpaque ? `${path}/.wh..wh..opq` : `${folder}.wh.${path.slice(folder.length)}`,
        });
        // What the layer itself has there stays.
        for (const each of lower) {
          if (each.startsWith(`${path}/`) || (each === path && !isOpaque)) paths.delete(each);
        }
        continue;
      }
      const added = member();
      const path = added.path.replace(/\/$/, "");
      if (added.type !== "5" || paths.get(path) !== "5") remove(path);
      paths.set(path, added.type === "1" ? "0" : added.type);
      for (
        let parent = path;
        parent !== "";
        parent = parent.slice(0, Math.max(0, parent.lastIndexOf("/")))
      ) {
        own.add(parent);
      }
      members.push(added);
    }
    return members;
  });
}
