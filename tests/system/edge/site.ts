/** A static site on the disk with many files, some of which change with each deployment. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

import { normalizePath } from "hedgerow";

import { Choices } from "../random.js";

const FIRST_FILES = 1500;
/** Files that each deployment removes, and as many that it adds. */
const CHANGED_FILES = 100;

/** Names of folders and files, with characters that URLs encode or give a meaning to. */
const WORDS = [
  ...[
    "about",
    "About",
    "blog",
    "2026",
    "hedge row",
    "caf\u00e9",
    "\u{1f33f}",
    "100%",
    "a#b",
    "who?",
  ],
  ...["a+b", "x&y", "(c)", "%41", "..more", ".well-known", "_next", "~user", "semi;colon", "a=b"],
] as const;
const ENDINGS = [".html", ".css", ".js", "", ".tar.gz"] as const;
const INDEX = "/index.html";

/** A path of decoded segments, each after a slash. */
export type SitePath = string;

/** Returns the path key of a path. */
export function keyOf(path: SitePath): string {
  return normalizePath(path.split("/").map(encodeURIComponent).join("/"));
}

/** A deployment and its paths. */
export interface Deployment {
  readonly name: string;
  /** Its paths, without duplicates. */
  readonly present: readonly SitePath[];
  has(path: SitePath): boolean;
}

/** The folder of a site and its files. */
export class Site {
  readonly folder: string;
  readonly #seed: number;
  #files: SitePath[] = [];
  #count = 0;

  constructor(folder: string, seed: number) {
    this.folder = folder;
    this.#seed = seed;
  }

  /** Changes some files, and returns the new deployment. */
  deploy(): Deployment {
    const number = this.#count;
    this.#count += 1;
    const choices = new Choices(this.#seed, number);
    const files = new Set(this.#files);
    for (const file of number === 0 ? [] : choices.shuffled(this.#files).slice(0, CHANGED_FILES)) {
      rmSync(join(this.folder, file));
      files.delete(file);
    }
    const wanted = number === 0 ? FIRST_FILES : this.#files.length;
    while (files.size < wanted) {
      const file = newFile(choices);
      const path = join(this.folder, file);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, file);
      files.add(file);
    }
    this.#files = [...files];
    return deployment(`d${number}`, this.#files);
  }
}

/** Returns a new file name. The suffix of folders keeps a name from being both a folder and a file. */
function newFile(choices: Choices): SitePath {
  const folders = Array.from({ length: 1 + choices.below(3) }, () => {
    return `${choices.pick(WORDS)}-${choices.below(12)}.d`;
  });
  const parent = `/${folders.join("/")}`;
  if (choices.chance(0.1)) return parent + INDEX;
  return `${parent}/${choices.pick(WORDS)}${choices.below(10_000)}${choices.pick(ENDINGS)}`;
}

function deployment(name: string, files: readonly SitePath[]): Deployment {
  const folders = files.filter((file) => file.endsWith(INDEX));
  const present = [...files, ...folders.map((file) => file.slice(0, -INDEX.length))];
  const known = new Set(present);
  return { name, present, has: (path) => known.has(path) };
}
