import { checkList, checkString, HedgerowError, typeName, wrongType } from "../error.js";
import { MAX_WILDCARD_DEPTH, type PathLookup } from "./guard-paths.js";

const decoder = new TextDecoder();

/** Total length of the paths of a tree, in characters: those of a deep tree are longer than its text. */
const MAX_TREE_LENGTH = 2 ** 26;

/** A tree of paths: a member for each segment. A value that is not an object ends a path. */
interface PathTree {
  readonly [segment: string]: unknown;
}

/**
 * An exact set of the paths of a deployment, with the interface of `PathFilter`. Use it for deployments that
 * have no filter yet.
 *
 * @example
 * ```ts
 * import { PathSet } from "hedgerow";
 *
 * const listed = PathSet.parse('["/", "/blog/first"]');
 * const tree = PathSet.parse('{ "": 1, "blog": { "first": 1 } }');
 * listed.has("/blog/first") && tree.has("/blog/first"); // true
 * ```
 */
export class PathSet implements PathLookup {
  readonly #paths: ReadonlySet<string>;
  /** Depth of the deepest wildcard key, as its number of slashes; 0 if there are none. */
  readonly wildcards: number;
  /** Size of the source: the length of the JSON, or the total length of the paths, in characters. */
  readonly byteLength: number;

  /**
   * @param byteLength the size to report. Default: the total length of the paths, in characters
   * @throws {HedgerowError} `ERR_ARGUMENT` if `paths` is not a list of strings, or `byteLength` is not a
   * number of at least 0
   */
  constructor(paths: Iterable<string>, byteLength?: number) {
    checkList("paths", paths);
    if (byteLength !== undefined && !(typeof byteLength === "number" && byteLength >= 0)) {
      throw wrongType("a length of at least 0", byteLength);
    }
    const all = new Set<string>();
    let wildcards = 0;
    let length = 0;
    for (const path of paths) {
      checkString("a path", path);
      all.add(path);
      length += path.length;
      if (path.endsWith("/*")) wildcards = Math.max(wildcards, depthOf(path));
    }
    this.#paths = all;
    this.wildcards = wildcards;
    this.byteLength = byteLength ?? length;
  }

  /**
   * Reads a set from JSON: an array of paths, or a tree. In a tree, each member is a segment. An object holds
   * the segments below it, any other value ends a path, and the empty name stands for the directory itself.
   *
   * @throws {HedgerowError} `ERR_PATH_SET` if the text is not such JSON, or the paths of the tree have more
   * than 64 Mi characters in total; `ERR_ARGUMENT` if `json` has the wrong type
   */
  static parse(json: string | Uint8Array | ArrayBuffer): PathSet {
    const text = textOf(json);
    const value = parseJson(text);
    if (Array.isArray(value)) {
      const other = value.findIndex((path) => typeof path !== "string");
      if (other >= 0) {
        throw pathSetError(`expected a path at index ${other}, found ${typeName(value[other])}`);
      }
      return new PathSet(value, text.length);
    }
    if (!isTree(value)) {
      throw pathSetError(`expected an array of paths or a tree of them, found ${typeName(value)}`);
    }
    return new PathSet(pathsOf(value), text.length);
  }

  /** Returns whether a path is in the set. */
  has(path: string): boolean {
    checkString("a path", path);
    return this.#paths.has(path);
  }

  /** Does nothing: a set uses no WebAssembly memory. */
  free(): void {}

  /** Calls {@link free}; for `using`. */
  [Symbol.dispose](): void {}
}

function textOf(json: string | Uint8Array | ArrayBuffer): string {
  if (typeof json === "string") return json;
  if (!(json instanceof Uint8Array || json instanceof ArrayBuffer)) {
    throw wrongType("a string, a Uint8Array or an ArrayBuffer", json);
  }
  try {
    return decoder.decode(json);
  } catch (error) {
    // The text is longer than a string can be.
    throw pathSetError(`expected JSON, found other bytes: ${(error as Error).message}`);
  }
}

/** Returns the number of slashes in a path, at most {@link MAX_WILDCARD_DEPTH}. */
function depthOf(path: string): number {
  let depth = 0;
  for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1)) {
    depth += 1;
    if (depth === MAX_WILDCARD_DEPTH) break;
  }
  return depth;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw pathSetError(`expected JSON, found another text: ${(error as Error).message}`);
  }
}

function isTree(value: unknown): value is PathTree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Yields the paths of a tree. Does not recurse, since a tree may be deep. */
function* pathsOf(tree: PathTree): Generator<string> {
  const directories: [path: string, tree: PathTree][] = [["", tree]];
  let length = 0;
  for (let directory = directories.pop(); directory !== undefined; directory = directories.pop()) {
    const [parent, members] = directory;
    for (const [segment, value] of Object.entries(members)) {
      const path = segment === "" ? parent || "/" : `${parent}/${segment}`;
      if (isTree(value)) directories.push([path === "/" ? "" : path, value]);
      else {
        length += path.length;
        if (length > MAX_TREE_LENGTH) {
          throw pathSetError(`expected paths of at most ${MAX_TREE_LENGTH} characters, found more`);
        }
        yield path;
      }
    }
  }
}

function pathSetError(message: string): HedgerowError {
  return new HedgerowError("ERR_PATH_SET", `path set: ${message}`);
}
