/** What debugfs has to do so that a file system holds a tree. */
import { createHash } from "node:crypto";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { CliError } from "../error.js";
import {
  type Before,
  type Facts,
  LOST_AND_FOUND,
  type Node,
  newDirectory,
  sorted,
} from "./tree.js";

/** The maximum number of requests in a run of debugfs each: a name with line breaks needs two, or four on a base. */
export const MAX_REQUESTS = 1024;

/** The file with the script, in the folder of the tree. */
export const SCRIPT = "script";

/** The number of lines of the script in memory: all together could be longer than a string. */
const MAX_LINES = 1024;

/** debugfs reads 8,191 bytes of a line, and takes the rest of a longer one as another request, perhaps of a shell. */
const MAX_LINE = 8000;

/** The maximum length of a request outside of the script, which is an argument of a program on Linux. */
const MAX_ARGUMENT = 2 ** 17 - 1;

/** The range of times in an inode, in seconds. The kernel clamps others, too. */
const [MIN_TIME, MAX_TIME] = [-(2 ** 31), 2 ** 34 - 2 ** 31 - 1];

/** Bits of the mode by the kind of an object. */
const TYPES = {
  file: 0o100000,
  directory: 0o040000,
  symlink: 0o120000,
  character: 0o020000,
  block: 0o060000,
  fifo: 0o010000,
} as const satisfies Record<Node["kind"], number>;

/** The properties that debugfs gives a new object. */
const NEW: Facts = { mode: -1, uid: 0, gid: 0, seconds: 1, nanoseconds: 0, xattrs: new Map() };

/** The words of a request. */
type Words = readonly [command: string, ...args: string[]];

/** A name in the image while the script runs. */
class Place {
  constructor(
    readonly directory: string,
    readonly label: string,
  ) {}

  get path(): string {
    return `${this.directory === "/" ? "" : this.directory}/${this.label}`;
  }

  /** Begins with a dot, because `<12>` is the number of an inode. */
  get relative(): string {
    return `./${this.label}`;
  }
}

/**
 * The requests that make one tree of another. The script holds most of them. A request in which a line breaks cannot be
 * in it: it has a run of debugfs to itself, and names with line breaks have other names until the end.
 */
export class Script {
  /** Requests before the script. */
  readonly first: string[] = [];
  /** Requests after the script. */
  readonly last: string[] = [];
  /** The digest of the script. */
  readonly digest: Buffer;
  readonly #hash = createHash("sha256");
  #lines: string[] = [];
  readonly #folder: string;
  /** Where the objects are that the image has already. */
  readonly #places = new Map<Node, Place>();
  /** Objects that a request after the script makes. */
  readonly #late = new Set<Node>();
  /** What names with line breaks are called, by their paths. */
  readonly #labels = new Map<string, string>();
  readonly #renames: (readonly [from: Place, to: Place])[] = [];
  /** The directory in which the next request of the script runs. */
  #directory = "/";
  #values = 0;

  /**
   * Writes the script.
   *
   * @param folder where the files of the tree are; debugfs runs there
   * @param before what the image holds; if it is missing, the image is new
   */
  constructor(folder: string, before: Before | undefined, root: Node) {
    this.#folder = folder;
    const { root: old, nodes } = before ?? newImage(root);
    // Without this count of writes, which depends on the holes of the files. Once it is zero, it stays so.
    this.#add("set_super_value", "kbytes_written", "0");
    this.#relabel(old, "/", "");
    this.#removeOthers(old, root, nodes, "/", "");
    this.#set(root, old, new Place("/", "."));
    this.#fill(root, old, nodes, "/", "");
    for (const [from, to] of this.#renames.reverse()) this.#rename(this.last, from, to);
    this.#write();
    this.digest = this.#hash.digest();
  }

  #relabel(node: Node, directory: string, path: string): void {
    for (const [name, child] of sorted(node)) {
      const place = this.#place(directory, name, path);
      if (place.label !== name) {
        this.#rename(this.first, new Place(directory, name), place);
      }
      if (child.children !== undefined) this.#relabel(child, place.path, `${path}/${name}`);
    }
  }

  /** Removes all but the objects that both trees have under the same paths. */
  #removeOthers(
    old: Node,
    node: Node,
    nodes: Before["nodes"],
    directory: string,
    path: string,
  ): void {
    for (const [name, oldChild] of sorted(old)) {
      const place = this.#place(directory, name, path);
      const child = node.children?.get(name)?.node;
      const below = `${path}/${name}`;
      if (child === undefined || nodes.get(child) !== oldChild) {
        this.#remove(oldChild, place, below);
      } else if (child.children === undefined) this.#places.set(child, place);
      else this.#removeOthers(oldChild, child, nodes, place.path, below);
    }
  }

  #remove(node: Node, place: Place, path: string): void {
    for (const [name, child] of sorted(node)) {
      this.#remove(child, this.#place(place.path, name, path), `${path}/${name}`);
    }
    this.#run(place, node.children === undefined ? "rm" : "rmdir", place.relative);
  }

  /** Adds the missing objects of a directory, then those of the directories below. */
  #fill(
    node: Node,
    old: Node | undefined,
    nodes: Before["nodes"],
    directory: string,
    path: string,
  ): void {
    const below: (() => void)[] = [];
    for (const [name, child] of sorted(node)) {
      const place = this.#place(directory, name, path);
      if (place.label !== name) this.#renames.push([place, new Place(directory, name)]);
      const found = old?.children?.get(name)?.node;
      const same = found !== undefined && nodes.get(child) === found ? found : undefined;
      if (same === undefined) this.#create(child, place);
      else this.#set(child, same, place);
      if (child.children !== undefined) {
        below.push(() => this.#fill(child, same, nodes, place.path, `${path}/${name}`));
      }
    }
    for (const each of below) each();
  }

  #create(node: Node, place: Place): void {
    const first = this.#places.get(node);
    if (first !== undefined) {
      if (this.#late.has(node)) this.#runLater("ln", first.path, place.path);
      else this.#run(place, "ln", first.path, place.relative);
      return;
    }
    const { kind, target, device, content } = node;
    if (kind === "file") this.#run(place, "write", content?.file ?? "empty", place.label);
    else if (kind === "directory") this.#run(place, "mkdir", place.relative);
    else if (kind === "fifo") this.#run(place, "mknod", place.label, "p");
    else if (kind !== "symlink") {
      this.#run(place, "mknod", place.label, kind === "block" ? "b" : "c", "0", "0");
      this.#run(place, "set_inode_field", place.relative, "block[1]", `${numberOf(device)}`);
    } else if (isLine(lineOf("symlink", place.relative, target))) {
      this.#run(place, "symlink", place.relative, target);
    } else {
      this.#late.add(node);
      this.#runLater("symlink", place.path, target);
    }
    if (node.children === undefined) this.#places.set(node, place);
    this.#set(node, undefined, place);
  }

  /** Sets the properties that an object lacks. */
  #set(node: Node, old: Node | undefined, place: Place): void {
    const { mode, uid, gid, seconds, nanoseconds, xattrs } = old ?? NEW;
    const run = (request: (at: string) => Words) => {
      const isLate = this.#late.has(node) || !isLine(lineOf(...request(place.relative)));
      if (isLate) this.#runLater(...request(place.path));
      else this.#run(place, ...request(place.relative));
    };
    const field = (name: string, value: number) =>
      run((at) => ["set_inode_field", at, name, `0x${value.toString(16)}`]);
    if (node.mode !== mode) field("mode", TYPES[node.kind] | node.mode);
    if (node.uid !== uid) field("uid", node.uid);
    if (node.gid !== gid) field("gid", node.gid);
    if (node.seconds !== seconds || node.nanoseconds !== nanoseconds) {
      const clamped = Math.min(Math.max(node.seconds, MIN_TIME), MAX_TIME);
      // 32 bits with a sign, and how many times 2 ** 32 to add.
      const epoch = Math.floor((clamped - MIN_TIME) / 2 ** 32);
      field("mtime", clamped >>> 0);
      field("mtime_extra", node.nanoseconds * 4 + epoch);
    }
    // debugfs removes names from the count, and adds none.
    if (node.children === undefined && Math.max(node.names, old?.names ?? 1) > 1) {
      field("links_count", node.names);
    }
    for (const name of xattrs.keys()) if (!node.xattrs.has(name)) run((at) => ["ea_rm", at, name]);
    for (const [name, value] of node.xattrs) {
      if (xattrs.get(name)?.equals(value)) continue;
      const file = `value-${this.#values++}`;
      writeFileSync(join(this.#folder, file), value);
      // Without the dashes, a name could be an option.
      run((at) => ["ea_set", "-f", file, "--", at, name]);
    }
  }

  #place(directory: string, name: string, path: string): Place {
    if (isLine(name)) return new Place(directory, name);
    const key = `${path}/${name}`;
    // No layer has such a name by chance, and one that has it by intent fails.
    const label = this.#labels.get(key) ?? `.hedgerow-${this.#labels.size}`;
    this.#labels.set(key, label);
    return new Place(directory, label);
  }

  /** Adds a request to the script, which runs in the directory of a place. */
  #run({ directory }: Place, ...words: Words): void {
    if (directory !== this.#directory) this.#add("cd", directory);
    this.#directory = directory;
    this.#add(...words);
  }

  #add(...words: Words): void {
    this.#lines.push(`${checked(lineOf(...words), isLine)}\n`);
    if (this.#lines.length === MAX_LINES) this.#write();
  }

  #write(): void {
    const text = this.#lines.join("");
    this.#lines = [];
    this.#hash.update(text, "latin1");
    appendFileSync(join(this.#folder, SCRIPT), text, "latin1");
  }

  #runLater(...words: Words): void {
    this.#addRun(this.last, ...words);
  }

  #rename(runs: string[], from: Place, to: Place): void {
    this.#addRun(runs, "ln", from.path, to.path);
    this.#addRun(runs, "unlink", from.path);
  }

  /** Adds a request that has a run of debugfs to itself. */
  #addRun(runs: string[], ...words: Words): void {
    if (this.first.length + this.last.length === MAX_REQUESTS) {
      const message = `expected at most ${MAX_REQUESTS / 2} names with line breaks, found more`;
      throw new CliError("ERR_SOURCE", message);
    }
    runs.push(checked(lineOf(...words), isArgument));
  }
}

/** Returns what a new file system holds, in which objects of a tree are that it holds, too. */
function newImage(root: Node): Before {
  const old = newDirectory({ mode: 0o755, seconds: 1 });
  const [name, kept] = [LOST_AND_FOUND, root.children?.get(LOST_AND_FOUND)?.node];
  const lost = newDirectory({ mode: 0o700, seconds: 1 });
  old.children?.set(name, { node: lost, layer: 0 });
  return {
    root: old,
    nodes: new Map([[root, old], ...(kept?.kind === "directory" ? [[kept, lost] as const] : [])]),
  };
}

/** Returns the number of a device as the kernel stores it. */
function numberOf([major, minor]: Node["device"]): number {
  return ((minor & 0xff) | (major << 8) | ((minor & ~0xff) << 12)) >>> 0;
}

/** Returns a request. @throws {CliError} `ERR_SOURCE` if debugfs would read another one */
function checked(request: string, isSound: (request: string) => boolean): string {
  if (isSound(request)) return request;
  const message = `expected names that debugfs can read, found a request of ${request.length} bytes`;
  throw new CliError("ERR_SOURCE", message);
}

function isLine(request: string): boolean {
  return request.length <= MAX_LINE && !/[\0\n\r]/.test(request);
}

function isArgument(request: string): boolean {
  return request.length <= MAX_ARGUMENT && !request.includes("\0");
}

/** Joins words to a request. Within quotes, debugfs gives no other character a meaning. */
function lineOf(...[command, ...args]: Words): string {
  return [command, ...args.map((arg) => `"${arg.replaceAll('"', '""')}"`)].join(" ");
}
