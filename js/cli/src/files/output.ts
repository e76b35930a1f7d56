/** Writes results to files, whole or not at all, and to standard output. */
import { randomUUID } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

import { CliError, messageOf, systemCode } from "../error.js";
import { SIGNALS } from "../interrupt.js";
import { print } from "../print.js";

/**
 * Writes a file atomically: to a temporary file beside it, then fsync and rename. It runs synchronously
 * with signals deferred, so no signal leaves the temporary file behind. A link is followed and stays a
 * link.
 */
export function writeAtomically(path: string, bytes: Uint8Array): void {
  const target = statOf(path) === undefined ? path : realpathSync(path);
  const partial = `${target}.${randomUUID()}.tmp`;
  const wait = () => {};
  for (const signal of SIGNALS) process.on(signal, wait);
  try {
    writeThrough(partial, bytes);
    renameSync(partial, target);
  } catch (error) {
    throw new CliError("ERR_OUTPUT", `cannot write ${path}: ${messageOf(error)}`);
  } finally {
    rmSync(partial, { force: true });
    for (const signal of SIGNALS) process.off(signal, wait);
  }
}

function writeThrough(path: string, bytes: Uint8Array): void {
  const file = openSync(path, "wx");
  try {
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/**
 * Makes a private folder.
 *
 * @param prefix begins its name
 * @throws {CliError} `ERR_OUTPUT`
 */
export async function makeFolder(prefix: string, parent = tmpdir()): Promise<string> {
  try {
    return await mkdtemp(join(parent, prefix));
  } catch (error) {
    const reason = parent === tmpdir() ? ", as TMPDIR says" : "";
    const message = `cannot make a directory in ${parent}${reason}: ${messageOf(error)}`;
    throw new CliError("ERR_OUTPUT", message);
  }
}

/**
 * Throws if {@link writeAtomically} would fail, before the content is computed. Devices are rejected because
 * the rename would replace them.
 */
export function checkWritable(path: string): void {
  const found = statOf(path);
  if (found !== undefined && !found.isFile()) {
    const kind = found.isDirectory() ? "a directory" : "a device";
    throw new CliError("ERR_OUTPUT", `${path}: expected a file or nothing, found ${kind}`);
  }
  if (statOf(dirname(path))?.isDirectory() !== true) {
    throw new CliError("ERR_OUTPUT", `${path}: expected a directory at ${dirname(path)}`);
  }
}

function statOf(path: string) {
  try {
    return statSync(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw new CliError("ERR_OUTPUT", `cannot write ${path}: ${messageOf(error)}`);
  }
}

const STDOUT = "-";

/** Throws if a filter cannot be written to `output`. */
export function checkOutput(output: string): void {
  if (output !== STDOUT) checkWritable(output);
}

/** Writes a filter to a file, or to standard output. */
export async function writeFilter(output: string, file: Uint8Array): Promise<void> {
  if (output === STDOUT) await print(file);
  else writeAtomically(output, file);
}

/** Prints text about the filter: on standard error if the filter is on standard output. */
export async function printAbout(output: string, text: string): Promise<void> {
  if (output === STDOUT) process.stderr.write(text);
  else await print(text);
}
