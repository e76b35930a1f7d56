import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";

/** The bytes of the header of a state file before its digest. */
const BODY = 480;

/**
 * Changes the boot in which a disk was written to, as if the system had failed since. Returns whether it was being written
 * to.
 *
 * @param file the path of the state file
 */
export function failSystem(file: string): boolean {
  const state = readFileSync(file);
  const text = state.subarray(0, BODY).toString("latin1");
  if (!/"writtenIn":"[-0-9a-f]{36}"/.test(text)) return false;
  state.write(text.replace(/"writtenIn":"../, '"writtenIn":"zz'), "latin1");
  createHash("sha256").update(state.subarray(0, BODY)).digest().copy(state, BODY);
  writeFileSync(file, state);
  return true;
}
