/** The folder in which a document runs, with the files and images that it expects, and replacements for its ports. */
import { once } from "node:events";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { makeExt4Image } from "../../scripts/lib/file-systems.mjs";
import { inRoot } from "../../scripts/lib/paths.mjs";
import { listFiles } from "../../scripts/lib/run.mjs";
import { PACKAGE_FOLDERS, tarballOf } from "../../scripts/lib/suites.mjs";

/** Image names without a folder. */
const IMAGES = /(?<![\w/-])[\w-]+\.img\b/g;
const IMAGE_SIZES = { imageBytes: 16 * 2 ** 20, dataBytes: 2 * 2 ** 20 };

const SITE = {
  "dist/index.html": "<title>Hedges</title>",
  "dist/about/index.html": "<title>About</title>",
  ".vercel/output/config.json": JSON.stringify({ version: 3 }),
  ".vercel/output/static/about": "About",
  "internal.txt": "x-internal-*\nx-debug-token\n",
};

/** Files of an example that may contain ports. */
const CODE = /\.([cm]?[jt]s|jsonc)$/;

export interface Scratch {
  readonly folder: string;
  /** Stands for all other folders of a reader's machine. */
  readonly home: string;
  remove(): void;
}

/** @param isGuide guides run outside the repository; other documents where the packed packages resolve */
export function makeScratch(isGuide: boolean): Scratch {
  const temporary = realpathSync(tmpdir());
  const parent = isGuide ? temporary : inRoot("tests", "packaging", ".work");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "docs-"));
  const home = mkdtempSync(join(temporary, "hedgerow-home-"));
  const remove = () => {
    for (const path of [folder, home])
      rmSync(path, { recursive: true, force: true, maxRetries: 5 });
  };
  return { folder, home, remove };
}

/** Prepares the folder; an example runs in a copy of the repository without other files. */
export function prepareFolder(
  folder: string,
  document: string,
  text: string,
  ports: Replacements,
): void {
  // Otherwise npm would use the suite as the project.
  write(folder, "package.json", JSON.stringify({ private: true, type: "module" }));
  const own = document.startsWith("examples/") ? dirname(document) : ".";
  if (own !== ".") copyExample(own, folder, ports);
  for (const place of new Set([".", own])) {
    for (const [name, content] of Object.entries(SITE)) write(folder, join(place, name), content);
  }
  makeImages(join(folder, own), new Set(text.match(IMAGES)));
  if (text.includes("target/hedgerow*.tgz")) copyTarballs(join(folder, "target"));
}

function write(folder: string, name: string, content: string): void {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** Copies the packed packages, as `npm pack` would write them. */
function copyTarballs(target: string): void {
  for (const tarball of Object.keys(PACKAGE_FOLDERS).map(tarballOf))
    cpSync(tarball, join(target, basename(tarball)));
}

function copyExample(example: string, folder: string, ports: Replacements): void {
  for (const file of listFiles(`${example}/`)) {
    const copy = join(folder, file);
    cpSync(inRoot(file), copy);
    if (CODE.test(file)) replaceIn(copy, ports);
  }
}

/** Creates a small image for every image name in a document; restores overwrite theirs. */
function makeImages(folder: string, names: ReadonlySet<string>): void {
  const [first, ...others] = names;
  if (first === undefined) return;
  makeExt4Image(join(folder, first), IMAGE_SIZES);
  for (const name of others) cpSync(join(folder, first), join(folder, name));
}

/** Ports in documents. */
const PORTS = /(?:localhost:|127\.0\.0\.1:|--port[ =]|PORT=)(\d{4,5})\b/g;

/** Below the range of ephemeral ports. */
const [FIRST, COUNT] = [12_000, 18_000];

export type Replacements = ReadonlyMap<string, string>;

/** Applies replacements to a file. */
export function replaceIn(path: string, names: Replacements): void {
  writeFileSync(path, withReplacements(readFileSync(path, "utf8"), names));
}

/** Chooses a free port for each port in a text. */
export async function portsFor(text: string): Promise<Replacements> {
  const ports = new Map<string, string>();
  const taken = new Set<string>();
  for (const [, port = ""] of text.matchAll(PORTS)) {
    if (!ports.has(port)) ports.set(port, await freePort(taken));
  }
  return ports;
}

/** Returns a text with replacements applied. */
export function withReplacements(text: string, names: Replacements): string {
  let result = text;
  for (const [name, other] of names) {
    // A number matches only as a whole.
    const pattern = /^\d+$/.test(name) ? new RegExp(`\\b${name}\\b`, "g") : name;
    result = result.replaceAll(pattern, other);
  }
  return result;
}

/** Returns a port that is not in use; random, since other tests choose ports at the same time. */
async function freePort(taken: Set<string>): Promise<string> {
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    if (taken.has(String(port)) || !(await isFree(port))) continue;
    taken.add(String(port));
    return String(port);
  }
  throw new Error("expected a free port");
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
    return true;
  } catch {
    return false;
  } finally {
    server.close();
  }
}
