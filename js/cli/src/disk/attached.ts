/**
 * Serves an attached disk, and saves and detaches it at the end. Errors name the command that saves the remaining
 * changes.
 */
import { subscribe } from "node:diagnostics_channel";
import { rm, symlink } from "node:fs/promises";
import { resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { type AttachedDisk, type Events, type Generation, SnapshotError } from "@hedgerow/snapshot";

import { CliError, type ErrorCode, messageOf, report } from "../error.js";
import { jsonOf, print } from "../print.js";
import {
  type ControlActions,
  type ControlServer,
  listenForControl,
  type SaveRequest,
  socketPath,
} from "./control.js";
import type { ServeOptions } from "./options.js";
import { type Serving, serveAs, showFill, untilAborted } from "./serve.js";

/** A volume to present as a file. */
export interface Mount {
  readonly volume: string;
  readonly path: string;
}

/** How an attached disk is served. */
interface AttachedServing {
  /** The store, as in the command line. */
  readonly place: string;
  readonly serve: ServeOptions;
  readonly mounts: readonly Mount[];
  /** How long saving and detaching may take, in milliseconds. */
  readonly deadline: number;
  readonly json: boolean;
  /** Aborted by a signal. */
  readonly signal: AbortSignal;
}

/**
 * Serves an attached disk until a signal arrives, its engine fails, or another process asks to detach it. Then saves and
 * detaches it. If that fails, ends the process with an error.
 */
export async function serveAttached(disk: AttachedDisk, how: AttachedServing): Promise<void> {
  const { place, serve, mounts, deadline, json, signal } = how;
  const local = { place, image: disk.image };
  const asked = new AbortController();
  let serving: Serving | undefined;
  const mounted: Serving[] = [];
  let detaching: Promise<Generation> | undefined;
  const detach = (options: SaveRequest = {}) => {
    // What the engines hold back must be in the last generation.
    detaching ??= stopAll([serving, ...mounted]).then(() =>
      detachWithin(disk, deadline, local, options),
    );
    asked.abort();
    return detaching;
  };
  const save: ControlActions["save"] = ({ label, metadata }) =>
    disk.save({ label, metadata }).catch((error: unknown) => {
      throw isLost(error) ? lostError(error, local) : error;
    });
  warnOf(disk, place);
  let control: ControlServer | undefined;
  try {
    serving = await serveAs(disk, { ...serve, readOnly: false, signal });
    for (const mount of mounts) mounted.push(await mountVolume(disk, mount, signal));
    control = await listenForControl(await socketPath(place, disk.name), { save, detach });
    await print(
      json ? jsonOf(factsOf(disk, serving, mounts)) : `${serving.device ?? serving.uri}\n`,
    );
  } catch (error) {
    await control?.close();
    await detach();
    throw error;
  }
  const shown = new AbortController();
  const showing = showFill(disk, shown.signal);
  const failures = [serving, ...mounted].map(({ failed }) => failed);
  const ends = [untilAborted(signal), untilAborted(asked.signal), ...failures];
  const reason = await Promise.race(ends);
  shown.abort();
  await showing;
  try {
    await detach();
  } catch (error) {
    await control.close();
    // A transfer that hangs must not keep the process.
    process.exit(report(error, json));
  }
  await control.close();
  if (typeof reason === "string") throw new CliError("ERR_OUTPUT", reason);
}

async function stopAll(servings: readonly (Serving | undefined)[]): Promise<void> {
  await Promise.all(servings.map((one) => one?.stop()));
}

/**
 * Presents a volume at a path: by `nbdfuse`, or by a link to it if it is a file already.
 *
 * @throws {CliError} `ERR_USAGE`, `ERR_OUTPUT`
 */
async function mountVolume(
  disk: AttachedDisk,
  { volume: name, path }: Mount,
  signal: AbortSignal,
): Promise<Serving> {
  if (!disk.volumes.includes(name)) {
    const found = disk.volumes.join(", ") || "no volumes";
    throw new CliError("ERR_USAGE", `--mount ${name}: ${disk.name} has ${found}`);
  }
  const volume = disk.volume(name);
  if (volume.kind === "file") return linkTo(volume.path, path);
  const device = { kind: "file", path } as const;
  return serveAs(volume, { listen: {}, device, readOnly: false, signal });
}

/** Makes a link. @throws {CliError} `ERR_OUTPUT` */
async function linkTo(target: string, path: string): Promise<Serving> {
  await symlink(target, path).catch((error: unknown) => {
    throw new CliError("ERR_OUTPUT", `cannot make the link ${path}: ${messageOf(error)}`);
  });
  const stop = () => rm(path, { force: true });
  return { uri: "", device: path, failed: new Promise(() => {}), stop };
}

function factsOf(disk: AttachedDisk, { uri, device }: Serving, mounts: readonly Mount[]) {
  const { name, epoch, size, image: path, generation } = disk;
  const volumes = disk.volumes.map((one) => {
    const volume = disk.volume(one);
    const mounted = mounts.find((mount) => mount.volume === one)?.path;
    const own = volume.kind === "file" ? volume.path : volume.image;
    return [one, { kind: volume.kind, path: mounted === undefined ? own : resolve(mounted) }];
  });
  const { number, metadata } = generation;
  const further = { volumes: Object.fromEntries(volumes), metadata };
  return { uri, device, name, generation: number, epoch, size, path, ...further };
}

/** Warns when the disk is lost, and when an automatic save fails. */
function warnOf(disk: AttachedDisk, place: string): void {
  const { lost, image } = disk;
  const warn = () => process.emitWarning(lostError(lost.reason, { place, image }).message);
  lost.addEventListener("abort", warn, { once: true });
  subscribe("hedgerow:store:save-failed", (event) => {
    const { reason } = event as Events["hedgerow:store:save-failed"];
    process.emitWarning(`cannot save ${disk.name} for now: ${reason}`);
  });
}

/** The pause after an attempt that failed, in milliseconds. */
const RETRY = 1_000;

/** The time after the deadline to thaw and to make the local image durable, in milliseconds. */
const END_TIMEOUT = 5_000;

/** The longest time that a timer can take, in milliseconds. */
const MAX_TIMER = 2 ** 31 - 1;

/**
 * Saves and detaches a disk. Retries until the deadline.
 *
 * @param deadline in milliseconds
 * @returns the last generation
 * @throws {CliError} which names the local image
 */
async function detachWithin(
  disk: AttachedDisk,
  deadline: number,
  local: LocalImage,
  options: SaveRequest,
): Promise<Generation> {
  const late = new AbortController();
  const { signal } = late;
  const timer = setTimeout(() => late.abort(), Math.min(deadline, MAX_TIMER));
  const ended = untilAborted(signal).then(() => delay(END_TIMEOUT, false));
  let reason = "";
  try {
    while (!signal.aborted) {
      try {
        const detached = disk.detach({ ...options, signal }).then(() => true);
        if (await Promise.race([detached, ended])) return disk.generation;
      } catch (error) {
        if (isFinal(error)) throw unsavedError(error.code, error.message, local);
        if (signal.aborted) break;
        if (!(error instanceof SnapshotError)) throw error;
        if (reason === "") process.emitWarning(`${error.message}; trying again`);
        reason = `: ${messageOf(error)}`;
        await delay(RETRY, undefined, { signal }).catch(() => {});
      }
    }
  } finally {
    clearTimeout(timer);
  }
  // Otherwise, the last writes would be lost when this process ends.
  await Promise.race([disk.flush().catch(() => {}), ended]);
  const message = `${disk.name} was not saved within ${deadline / 1000} s${reason}`;
  throw unsavedError("ERR_OUTPUT", message, local);
}

/** The hint of the API when another host has taken a disk. */
const HINT = "; recover the local image as a new disk";

/** The local image of an attached disk. */
interface LocalImage {
  /** The store, as in the command line. */
  readonly place: string;
  /** The path of the image. */
  readonly image: string;
}

/** Returns the error of a disk that is no longer served and has unsaved changes. */
function unsavedError(code: ErrorCode, message: string, { place, image }: LocalImage): CliError {
  const hint = `its changes are in ${image}: run "hedgerow disk recover ${place} ${image} --as <new name>"`;
  return new CliError(code, `${message.replace(HINT, "")}; ${hint}`);
}

/** Returns the error of a disk that was lost, and is still served. */
function lostError({ code, message }: SnapshotError, { place, image }: LocalImage) {
  const hint = `to save ${image} as a new disk, end this process and run "hedgerow disk recover ${place} ${image} --as <new name>"`;
  return new CliError(code, `${message.replace(HINT, "")}; ${hint}`);
}

/** Returns whether no later attempt can save a disk: it was lost, or memory lacks bytes of its machine. */
function isFinal(error: unknown): error is SnapshotError {
  if (isLost(error)) return true;
  return error instanceof SnapshotError && error.code === "ERR_IMAGE" && error.field !== undefined;
}

/** Returns whether an error says that the disk was lost. */
function isLost(error: unknown): error is SnapshotError {
  return error instanceof SnapshotError && error.code === "ERR_LEASE_LOST";
}
