import { checkList, checkString, found, HedgerowError, wrongType } from "../error.js";
import { MAX_WILDCARD_DEPTH, type PathLookup } from "./path-lookup.js";

const decoder = new TextDecoder();

/** How many characters the paths of a tree may have together: a deep one has more than its text. */
const MAX_TREE_LENGTH = 2 ** 26;

/** A tree of paths: a member for each segment; what is no object is the end of a path. */
interface PathTree {
  readonly [segment: string]: unknown;
}

/**
 * The paths of a deployment as they are without a filter, behind the same questions, so that
 * deployments can get filters one by one.
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
  /** The depth of the deepest wildcard key, as the number of its slashes; 0 if there are none. */
  readonly wildcards: number;
  /** The length of what the set was read from: JSON, or the paths alone, in bytes or characters. */
  readonly byteLength: number;

  /**
   * @throws {HedgerowError} `ERR_ARGUMENT` for a path that is not a string, what is not a list of paths,
   * and a length that is not a number from 0 on
   */
  constructor(paths: Iterable<string>, byteLength?: number) {
    checkList("paths", paths);
    if (byteLength !== undefined && !(typeof byteLength === "number" && byteLength >= 0)) {
      throw wrongType("a length of at least 0", byteLength);
    }
    const all = new Set<string>();
    let [wildcards, length] = [0, 0];
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
   * Reads JSON: an array of paths, or a tree. In a tree every member is a segment, an object holds
   * what is below it, and anything else is the end of a path; an empty name stands for the folder
   * itself.
   *
   * @throws {HedgerowError} `ERR_PATH_SET` for what is not JSON, for another value, and for a tree whose
   * paths have more than 64 Mi characters together; `ERR_ARGUMENT`
   * if `json` is of another type
   */
  static parse(json: string | Uint8Array | ArrayBuffer): PathSet {
    const text = textOf(json);
    const value = parseJson(text);
    if (Array.isArray(value)) {
      const other = value.findIndex((path) => typeof path !== "string");
      if (other >= 0) {
        throw refused(`expected a path at index ${other}, found ${found(value[other])}`);
      }
      return new PathSet(value, text.length);
    }
    if (!isTree(value)) {
      throw refused(`expected an array of paths or a tree of them, found ${found(value)}`);
    }
    return new PathSet(pathsOf(value), text.length);
  }

  /** Whether a path is in the set. */
  has(path: string): boolean {
    checkString("a path", path);
    return this.#paths.has(path);
  }

  /** Does nothing: the set is collected as any object is. */
  free(): void {}

  /** The same as {@link free}, for `using`. */
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
    // No string is as long as that.
    throw refused(`expected JSON, found other bytes: ${(error as Error).message}`);
  }
}

/** How many slashes a path has, as far as these are told apart. */
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
    throw refused(`expected JSON, found another text: ${(error as Error).message}`);
  }
}

function isTree(value: unknown): value is PathTree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The paths of a tree, however deep it is. */
function* pathsOf(tree: PathTree): Generator<string> {
  const folders: [path: string, tree: PathTree][] = [["", tree]];
  let length = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const [parent, members] = folder;
    for (const [segment, value] of Object.entries(members)) {
      const path = segment === "" ? parent || "/" : `${parent}/${segment}`;
      if (isTree(value)) folders.push([path === "/" ? "" : path, value]);
      else {
        length += path.length;
        if (length > MAX_TREE_LENGTH) {
          throw refused(`expected paths of at most ${MAX_TREE_LENGTH} characters, found more`);
        }
        yield path;
      }
    }
  }
}

function refused(message: string): HedgerowError {
  return new HedgerowError("ERR_PATH_SET", `path set: ${message}`);
}
