/**
 * Merges the layers of an image into one tree, in memory. No name of a layer ever becomes a name on the host: a hostile
 * layer can only make a strange tree.
 */
import { CliError } from "../error.js";
import type { TarEntry } from "./tar.js";
import { excerpt, invalid } from "./tar-fields.js";

/** The maximum number of members in all layers together, and of directories that no member describes. */
export const MAX_MEMBERS = 2_000_000;

/** The maximum size of all names, targets of links and attributes in all layers together, in bytes. */
const MAX_TEXT = 2 ** 28;

/** What an attribute takes in memory besides its name and value, in bytes. */
const XATTR = 256;

/** The maximum number of names in a directory. debugfs reads all of them for each one that it adds. */
export const MAX_ENTRIES = 65_536;

/** The maximum length of a name in a directory, in bytes. */
const MAX_NAME = 255;

/** The maximum length of a path and of the target of a symbolic link, in bytes. */
const MAX_PATH = 4095;

/** The maximum number of directories within one another: functions recurse, and links lead deeper than one path. */
export const MAX_DEPTH = 1024;

/** The maximum number of symbolic links in a path, as in Linux. */
const MAX_LINKS = 40;

/** The maximum number of names of a file in ext4. */
const MAX_NAMES = 65_000;

/** Names that begin so remove what lower layers have. */
const WHITEOUT = ".wh.";

/** The name that removes everything that lower layers have in a directory. */
const OPAQUE = ".wh..wh..opq";

/** The data of a file, in a file of the host. It is written after the file is part of the tree. */
export interface Content {
  readonly file: string;
  /** The number of blocks that hold more than zeros, and of runs of them that an extent can cover. */
  readonly blocks: number;
  readonly extents: number;
}

/** Properties that an object can change. */
export interface Facts {
  mode: number;
  uid: number;
  gid: number;
  seconds: number;
  nanoseconds: number;
  xattrs: ReadonlyMap<string, Buffer>;
}

/** A file, directory or other object, under one name or more. */
export interface Node extends Facts {
  readonly kind: "file" | "directory" | "symlink" | "character" | "block" | "fifo";
  /** The target of a symbolic link. */
  readonly target: string;
  readonly device: readonly [major: number, minor: number];
  readonly content: Content | undefined;
  readonly children: Map<string, Child> | undefined;
  /** The number of its names. */
  names: number;
}

/** A tree as it was, and its object for each of a later tree that is the same one. */
export interface Before {
  readonly root: Node;
  readonly nodes: ReadonlyMap<Node, Node>;
}

/** The directory that every ext4 file system has. */
export const LOST_AND_FOUND = "lost+found";

/** A name in a directory, and the last layer that has an object there or below. */
export interface Child {
  readonly node: Node;
  layer: number;
}

/** Limits of a tree. */
interface TreeLimits {
  /** The maximum size of the data of all files in all layers, in bytes, without holes. */
  readonly bytes: number;
  readonly members?: number;
  readonly text?: number;
}

/** The tree of an image while its layers are added, the lowest first. */
export class Tree {
  readonly root = newDirectory({});
  readonly #limits: Required<TreeLimits>;
  /** The last layer that has removed all lower ones from a directory, by its names. */
  readonly #cleared = new WeakMap<Map<string, Child>, number>();
  #members = 0;
  #text = 0;
  #bytes = 0;

  constructor(limits: TreeLimits) {
    this.#limits = { members: MAX_MEMBERS, text: MAX_TEXT, ...limits };
  }

  /**
   * Adds a member of a layer.
   *
   * @param layer number of the layer
   * @param content the file that the caller writes the data to
   * @param place name of the layer in errors
   * @returns whether the data is part of the tree
   */
  add(entry: TarEntry, layer: number, content: Content, place: string): boolean {
    this.#countMember(place);
    const where = `${place}: ${excerpt(entry.path)}`;
    const names = namesOf(entry.path, where);
    const name = names.pop();
    for (const [key, value] of entry.xattrs) {
      this.#countText(key.length + value.length + XATTR, place);
    }
    if (name === undefined) {
      this.#setRoot(entry, where);
      return false;
    }
    if (name.startsWith(WHITEOUT)) {
      // It is no part of the layer: another may remove its directory.
      this.#remove(this.#find(names, where), name, layer, where);
      return false;
    }
    const parent = this.#directoryOf(names, layer, where);
    const old = parent.get(name);
    if (entry.kind === "directory" && old?.node.kind === "directory") {
      Object.assign(old.node, factsOf(entry));
      old.layer = layer;
      return false;
    }
    const node =
      entry.kind === "link"
        ? this.#target(entry, where)
        : this.#nodeOf(entry, entry.kind, content, where);
    if (old?.node === node) return false;
    if (old !== undefined) this.#drop(parent, name, old.node);
    this.#put(parent, name, { node, layer }, where);
    return entry.kind === "file" && node.content !== undefined;
  }

  /** Writes a file at a path, and the directories that it needs. Links in the path are followed within the tree. */
  addFile(path: string, layer: number, content: Content): void {
    const names = namesOf(path, path);
    const name = names.pop() ?? "";
    const parent = this.#directoryOf(names, layer, path);
    const old = parent.get(name);
    if (old !== undefined) this.#drop(parent, name, old.node);
    const facts = { kind: "file", content, children: undefined } as const;
    this.#put(parent, name, { node: { ...newDirectory({ mode: 0o644 }), ...facts }, layer }, path);
  }

  /** Adds what every ext4 file system has, unless a layer has it. */
  addLostAndFound(): void {
    const { children } = this.root;
    if (children?.has(LOST_AND_FOUND) !== false) return;
    this.#put(children, LOST_AND_FOUND, { node: newDirectory({ mode: 0o700 }), layer: 0 });
  }

  /** Returns a copy of the tree, which later layers do not change. */
  copy(): Before {
    const nodes = new Map<Node, Node>();
    const copyOf = (node: Node): Node => {
      const done = nodes.get(node);
      if (done !== undefined) return done;
      const children = node.children && new Map<string, Child>();
      const copy = { ...node, children };
      nodes.set(node, copy);
      for (const [name, child] of node.children ?? []) {
        children?.set(name, { ...child, node: copyOf(child.node) });
      }
      return copy;
    };
    return { root: copyOf(this.root), nodes };
  }

  #countMember(where: string): void {
    this.#members += 1;
    if (this.#members > this.#limits.members) {
      throw invalid(where, `an image of at most ${this.#limits.members} members`, "more");
    }
  }

  /** Counts the bytes of text that the tree keeps. */
  #countText(bytes: number, where: string): void {
    this.#text += bytes;
    if (this.#text <= this.#limits.text) return;
    const expected = `names, targets and attributes of at most ${this.#limits.text} bytes`;
    throw invalid(where, expected, "more");
  }

  #setRoot(entry: TarEntry, where: string): void {
    if (entry.kind !== "directory") throw invalid(where, "a directory as the root", entry.kind);
    Object.assign(this.root, factsOf(entry));
  }

  #put(parent: Map<string, Child>, name: string, child: Child, where = name): void {
    const { node } = child;
    node.names += 1;
    if (node.names > MAX_NAMES)
      throw invalid(where, `at most ${MAX_NAMES} names of a file`, "more");
    if (parent.size === MAX_ENTRIES) {
      throw invalid(where, `at most ${MAX_ENTRIES} names in a directory`, "more");
    }
    this.#countText(name.length, where);
    // A copy: a part of a path would keep all of it in memory.
    parent.set(Buffer.from(name, "latin1").toString("latin1"), child);
  }

  #nodeOf(entry: TarEntry, kind: Node["kind"], content: Content, where: string): Node {
    const { target, device, segments } = entry;
    if (kind === "symlink" && (target === "" || target.length > MAX_PATH)) {
      throw invalid(where, `a target of 1 to ${MAX_PATH} bytes`, `${target.length}`);
    }
    if (kind === "symlink") this.#countText(target.length, where);
    const bytes = kind === "file" ? segments.reduce((sum, { length }) => sum + length, 0) : 0;
    this.#bytes += bytes;
    if (this.#bytes > this.#limits.bytes) {
      const message = `${where}: the image needs more than the ${this.#limits.bytes} bytes free at the destination`;
      throw new CliError("ERR_OUTPUT", message);
    }
    return {
      kind,
      ...factsOf(entry),
      target: kind === "symlink" ? target : "",
      device,
      content: kind === "file" && entry.size > 0 ? content : undefined,
      children: kind === "directory" ? new Map() : undefined,
      names: 0,
    };
  }

  /** Returns the object that a hard link names. The link itself is not followed if it is a symbolic one. */
  #target(entry: TarEntry, where: string): Node {
    const names = namesOf(entry.target, `${where}: target`);
    const name = names.pop();
    const found = name === undefined ? undefined : this.#find(names, where)?.get(name)?.node;
    if (found === undefined || found.kind === "directory") {
      const what = found === undefined ? "nothing" : "a directory";
      throw invalid(where, `a file at the target ${excerpt(entry.target)} of a hard link`, what);
    }
    return found;
  }

  /** Returns the directory at a path. Creates what is missing, and marks all as parts of the layer. */
  #directoryOf(names: readonly string[], layer: number, where: string): Map<string, Child> {
    const found = this.#walk(names, where, (parent, name) => {
      const old = parent.get(name);
      // A file that the layer uses as a directory becomes one.
      if (old !== undefined) this.#drop(parent, name, old.node);
      this.#countMember(where);
      this.#put(parent, name, { node: newDirectory({}), layer }, where);
      return parent.get(name)!;
    })!;
    for (const child of found.path) child.layer = layer;
    return found.directory;
  }

  #find(names: readonly string[], where: string): Map<string, Child> | undefined {
    return this.#walk(names, where)?.directory;
  }

  /**
   * Goes down a path. Symbolic links are followed within the tree: `/` and `..` never leave it.
   *
   * @param missing returns a new directory in place of nothing, or of something that is no directory
   * @returns undefined if `missing` would be called, and is left out
   */
  #walk(
    path: readonly string[],
    where: string,
    missing?: (parent: Map<string, Child>, name: string) => Child,
  ) {
    let walked: Child[] = [];
    const names = [...path].reverse();
    let links = 0;
    const here = () => walked.at(-1)?.node.children ?? this.root.children!;
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      if (name === "..") {
        walked.pop();
        continue;
      }
      let child = here().get(name);
      if (child?.node.kind === "symlink") {
        links += 1;
        if (links > MAX_LINKS) {
          throw invalid(where, `at most ${MAX_LINKS} symbolic links in a path`, "more");
        }
        const { target } = child.node;
        if (target.startsWith("/")) walked = [];
        names.push(
          ...target
            .split("/")
            .filter((part) => part !== "" && part !== ".")
            .reverse(),
        );
        continue;
      }
      if (child?.node.children === undefined) child = missing?.(here(), name);
      if (child === undefined) return undefined;
      walked.push(child);
      if (walked.length > MAX_DEPTH) {
        throw invalid(where, `at most ${MAX_DEPTH} directories within one another`, "more");
      }
    }
    return { directory: here(), path: walked };
  }

  /** Removes what lower layers have under a name, or in the whole directory. */
  #remove(
    parent: Map<string, Child> | undefined,
    whiteout: string,
    layer: number,
    where: string,
  ): void {
    const name = whiteout.slice(WHITEOUT.length);
    if (["", ".", ".."].includes(name)) {
      throw invalid(where, "a whiteout of a name in the directory", "one of the directory");
    }
    if (parent === undefined) return;
    const child = parent.get(name);
    if (whiteout === OPAQUE) this.#clear(parent, layer);
    else if (child !== undefined) this.#removeLower(parent, name, child, layer);
  }

  #clear(parent: Map<string, Child>, layer: number): void {
    // Only the layer itself can have added more since.
    if (this.#cleared.get(parent) === layer) return;
    this.#cleared.set(parent, layer);
    for (const [name, child] of parent) this.#removeLower(parent, name, child, layer);
  }

  #removeLower(
    parent: Map<string, Child>,
    name: string,
    { node, layer: own }: Child,
    layer: number,
  ) {
    if (own < layer) this.#drop(parent, name, node);
    else if (node.children !== undefined) this.#clear(node.children, layer);
  }

  /** Removes a name, and what is below it. */
  #drop(parent: Map<string, Child>, name: string, node: Node): void {
    parent.delete(name);
    node.names -= 1;
    if (node.children !== undefined) {
      for (const [below, child] of node.children) this.#drop(node.children, below, child.node);
    }
  }
}

/** Returns a directory that no layer describes. */
export function newDirectory(facts: Partial<Facts>): Node {
  return {
    kind: "directory",
    ...{ mode: 0o755, uid: 0, gid: 0, seconds: 0, nanoseconds: 0, xattrs: new Map() },
    ...facts,
    ...{ target: "", device: [0, 0], content: undefined, children: new Map(), names: 0 },
  };
}

/** Returns what is in a directory, in the order of the bytes of its names. */
export function sorted({ children }: Node): [name: string, node: Node][] {
  const names = [...(children?.keys() ?? [])].sort((a, b) => (a < b ? -1 : 1));
  return names.map((name) => [name, children!.get(name)!.node]);
}

function factsOf({ kind, mode, uid, gid, seconds, nanoseconds, xattrs }: TarEntry): Facts {
  return { mode: kind === "symlink" ? 0o777 : mode, uid, gid, seconds, nanoseconds, xattrs };
}

/** Splits a path into names. */
function namesOf(path: string, where: string): string[] {
  if (path.length > MAX_PATH)
    throw invalid(where, `a path of at most ${MAX_PATH} bytes`, "a longer one");
  const names = path.split("/").filter((name) => name !== "" && name !== ".");
  for (const [index, name] of names.entries()) {
    if (name === "..") throw invalid(where, "a path in the image", "one with ..");
    // A whiteout is no name in a directory, and longer than the one that it removes.
    const isWhiteout = index === names.length - 1 && name.startsWith(WHITEOUT);
    const length = name.length - (isWhiteout ? WHITEOUT.length : 0);
    if (length > MAX_NAME) {
      throw invalid(where, `names of at most ${MAX_NAME} bytes`, `one of ${length}`);
    }
  }
  return names;
}
