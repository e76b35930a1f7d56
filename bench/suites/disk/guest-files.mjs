// Adds programs and a workload to an image from which a guest boots.
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { addGuestPrograms } from "../../../tests/support/guest/guest.mjs";

/** The command that a guest runs, and that of another workload. */
export const WORKLOAD = "sh /workload.sh";
export const OTHER_WORKLOAD = "sh /other.sh";

/** The source of the program that reads random blocks. */
const READS = fileURLToPath(new URL("reads.c", import.meta.url));

/** Folders of Python’s library that no program of the workload needs. */
const UNUSED = /^(?:test|site-packages|idlelib|config-.*)$/;

/** Files that a workload reads from one place, because programs read their own files. */
export const RUN = 30;

/** The largest file that a workload reads, in bytes. */
export const MAX_FILE = 2 ** 17;

/** @param {string} program @param {string[]} args */
const printed = (program, ...args) => execFileSync(program, args, { encoding: "utf8" }).trim();

/**
 * Adds Python, git, Node, scripts that use them, and a program that reads random blocks to the folder of an image.
 *
 * @param {string} tree
 * @param {{ files: number, allBoots: boolean }} plan
 */
export function addGuestFiles(tree, { files, allBoots }) {
  const found = filesIn(tree);
  const every = Math.max(2, Math.floor(found.length / files));
  const runs = (/** @type {number} */ first) =>
    found.filter((_, index) => Math.floor(index / RUN) % every === first).slice(0, files);
  addGuestPrograms(tree);
  const commands = [addGit(tree), ...(allBoots ? [addPython(tree), addNode(tree)] : [])];
  writeScript(tree, "workload", runs(0), commands);
  writeScript(tree, "other", runs(Math.floor(every / 2)), []);
  printed("cc", "-O2", "-static", "-pthread", "-o", join(tree, "reads"), READS);
}

/** Returns a command that commits a file. @param {string} tree */
function addGit(tree) {
  const git = addProgram(tree, printed("which", "git"));
  const options = "-c user.name=a -c user.email=a -c maintenance.auto=false";
  return `cd /tmp
echo text > file
'${git}' init -q --template= .
'${git}' add file
'${git}' ${options} commit -q -m message`;
}

/** Returns a command that imports modules. @param {string} tree */
function addPython(tree) {
  const python = addProgram(tree, printed("python3", "-c", "import sys; print(sys.executable)"));
  const library = printed(python, "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))");
  cpSync(library, join(tree, library), {
    ...{ recursive: true, force: false, verbatimSymlinks: true },
    // Python compiles a module again whose time has changed.
    preserveTimestamps: true,
    filter: (path) => !UNUSED.test(basename(path)),
  });
  return `'${python}' -c 'import asyncio, email, http.client, json, unittest; print("python")'`;
}

/** Returns a command that imports modules. @param {string} tree */
function addNode(tree) {
  const node = addProgram(tree, process.execPath);
  return `'${node}' -e 'import("node:http").then(() => console.log("node"))'`;
}

/**
 * Writes a script that prints a digest of files and runs commands.
 *
 * @param {string} tree
 * @param {string} name
 * @param {string[]} files
 * @param {string[]} commands
 */
function writeScript(tree, name, files, commands) {
  writeFileSync(join(tree, `${name}.files`), files.map((file) => `/${file}\0`).join(""));
  const lines = [
    "set -e",
    "export HOME=/tmp",
    "busybox mount -t devtmpfs dev /dev",
    "busybox mount -t proc proc /proc",
    `busybox xargs -0 cat < /${name}.files | sha256sum`,
    ...commands,
  ];
  writeFileSync(join(tree, `${name}.sh`), `${lines.join("\n")}\n`);
}

/** Adds a program and its shared libraries, each at its own path, which it returns. @param {string} tree @param {string} program */
function addProgram(tree, program) {
  const libraries = printed("ldd", program).matchAll(/(\/\S+) \(0x/g);
  for (const path of [program, ...[...libraries].map(([, library = ""]) => library)]) {
    const target = join(tree, path);
    mkdirSync(dirname(target), { recursive: true });
    // It may be a hard link to a file of the system.
    rmSync(target, { force: true });
    copyFileSync(path, target);
  }
  return program;
}

/** Returns the paths of the small files in a folder tree, in order. @param {string} tree */
function filesIn(tree) {
  return readdirSync(tree, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => lstatSync(path).size <= MAX_FILE)
    .map((path) => relative(tree, path))
    .sort();
}
