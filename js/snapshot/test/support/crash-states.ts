/** Files as a power failure may leave them, after the system calls of a process. */
import { dirname } from "node:path";

import { SECTOR } from "./power-content.mjs";
import type { SystemCall } from "./system-calls.js";

/** Files by their paths. */
export type Files = ReadonlyMap<string, Buffer>;

/**
 * Returns files that a power failure may leave. Writes are there if their file was synced after them; of the others, each
 * sector is there or not. So are names, if their folder was not synced.
 *
 * @param at the line of the record at which the system fails
 * @param random from 0 to 1
 * @param isIgnored whether a sync has no effect: such a system is broken
 */
export function crashState(
  calls: readonly SystemCall[],
  at: number,
  random: () => number,
  isIgnored: (call: SystemCall) => boolean = () => false,
): Files {
  const issued = calls.filter(({ begin }) => begin < at);
  const syncs = issued.filter((call) => call.kind === "sync" && call.end < at && !isIgnored(call));
  const isDurable = (path: string, { end }: SystemCall) =>
    syncs.some((sync) => sync.path === path && sync.begin > end);
  const files = new Map<string, Buffer>();
  /** What calls by an earlier name concern. */
  const renamed = new Map<string, string>();
  for (const call of issued) {
    const path = renamed.get(call.path) ?? call.path;
    const isThere = () => isDurable(call.path, call) || random() < 0.5;
    const isNamed = (name: string) => isDurable(dirname(name), call) || random() < 0.5;
    switch (call.kind) {
      case "create":
        if (!files.has(path) && isNamed(path)) files.set(path, Buffer.alloc(0));
        break;
      case "rename":
        if (isNamed(call.to) && files.has(path)) {
          files.set(call.to, files.get(path) as Buffer);
          files.delete(path);
          renamed.set(call.path, call.to);
        }
        break;
      case "truncate":
        if (files.has(path) && isThere())
          files.set(path, resized(files.get(path) as Buffer, call.length));
        break;
      case "extend":
        if (files.has(path) && isThere()) extend(files, path, call.length);
        break;
      case "punch":
        if (isThere())
          files
            .get(path)
            ?.subarray(call.offset, call.offset + call.length)
            .fill(0);
        break;
      case "write": {
        if (!files.has(path)) break;
        const file = extend(files, path, call.offset + call.bytes.length);
        for (let from = 0; from < call.bytes.length; from += SECTOR)
          if (isThere()) call.bytes.copy(file, call.offset + from, from, from + SECTOR);
        break;
      }
    }
  }
  return files;
}

/** Makes a file at least `length` bytes long, and returns it. */
function extend(files: Map<string, Buffer>, path: string, length: number): Buffer {
  const known = files.get(path) as Buffer;
  const file = known.length < length ? resized(known, length) : known;
  files.set(path, file);
  return file;
}

function resized(bytes: Buffer, length: number): Buffer {
  const file = Buffer.alloc(length);
  bytes.copy(file);
  return file;
}
