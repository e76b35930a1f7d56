/** Serves a disk, and shows the progress of its fill. */
import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

import { type Disk, type Events, type ListenOptions, openSnapshot } from "@hedgerow/snapshot";
import prettyBytes from "pretty-bytes";

import { messageOf } from "../error.js";
import { makeFolder } from "../files/output.js";
import { progressLine, type Spinner, spinnerColumns, startSpinner } from "../progress.js";
import { openCache } from "../snapshot/options.js";
import { type Device, startDevice } from "./device.js";
import { type DiskFlags, openOptionsOf, type ServeOptions } from "./options.js";

/** How often progress is shown, in milliseconds. */
const INTERVAL = 100;

/** A disk whose data is arriving. */
type Filling = Pick<Disk, "filled" | "progress">;

/** A disk that is open and served. */
export interface Served {
  readonly disk: Disk;
  readonly serving: Serving;
}

/** A disk that clients can reach. */
export interface Serving {
  /** The URI of the export. */
  readonly uri: string;
  /** The path of the device, if an engine makes one. */
  readonly device: string | undefined;
  /** Resolves with the reason if the engine fails for good. */
  readonly failed: Promise<string>;
  /** Ends the engine, and then the connections of clients. */
  readonly stop: () => Promise<void>;
}

interface HowToServe extends ServeOptions {
  readonly readOnly: boolean;
  /** Aborted by a signal. */
  readonly signal: AbortSignal;
}

/** A disk to serve. */
interface DiskToServe {
  readonly source: string;
  readonly image: string;
  readonly readOnly: boolean;
  readonly serve: ServeOptions;
  readonly flags: DiskFlags;
  /** Aborted by a signal. */
  readonly signal: AbortSignal;
}

/**
 * Opens a disk and serves it while `use` runs, with a progress line on a terminal. When `use` has ended, makes all
 * writes durable.
 */
export async function serveDisk(
  { source, image, readOnly, serve, flags, signal }: DiskToServe,
  use: (served: Served) => Promise<void>,
): Promise<void> {
  warnOfFullDisks();
  await using cache = await openCache(flags);
  const options = { ...openOptionsOf(flags), image, readOnly, cache, signal };
  await using disk = await openSnapshot(source, options);
  const { discardWrites = false } = serve.listen;
  const how = { ...serve, readOnly: readOnly && !discardWrites, signal };
  const serving = await serveAs(disk, how);
  const ended = new AbortController();
  const showing = showFill(disk, ended.signal);
  try {
    await use({ disk, serving });
  } finally {
    await serving.stop();
    ended.abort();
    await showing;
  }
}

/** Serves a disk over NBD, and as a device if one is wanted. @throws {CliError} `ERR_OUTPUT` */
export async function serveAs(
  disk: Pick<Disk, "listen" | "size">,
  { listen, device, readOnly, signal }: HowToServe,
): Promise<Serving> {
  if (device === undefined) {
    const { uri, close } = await serverOf(disk, listen);
    return { uri, device: undefined, failed: new Promise(() => {}), stop: close };
  }
  // Without a socket of the user's, a private one that only the engine uses.
  const folder = listen.path ?? (await makeFolder("hedgerow-serve-"));
  const socket = listen.path ?? join(folder, "socket");
  const { uri, close } = await serverOf(disk, { ...listen, path: socket });
  let engine: Device | undefined;
  const stop = async () => {
    await engine?.[Symbol.asyncDispose]();
    engine = undefined;
    await close();
    if (folder !== listen.path) await rm(folder, { recursive: true, force: true });
  };
  try {
    const { size } = disk;
    const export_ = { socket, uri, name: listen.name, readOnly, size, signal };
    engine = await startDevice(device.kind, device.path, export_);
    return { uri, device: resolve(device.path), failed: engine.failed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function serverOf(disk: Pick<Disk, "listen">, listen: ListenOptions) {
  const server = await disk.listen(listen);
  return { uri: server.uri, close: () => server.close() };
}

/** Warns if the file system has no room for the data of a disk. */
export function warnOfFullDisks(): void {
  subscribe("hedgerow:disk:full", (event) => {
    const { image, missingBytes, freeBytes } = event as Events["hedgerow:disk:full"];
    const needed = prettyBytes(missingBytes);
    const free = prettyBytes(freeBytes);
    process.emitWarning(
      `${image}: ${needed} of data is to arrive and ${free} is free: the rest is read from the snapshot each time, and writes may fail`,
    );
  });
}

/** Waits until a signal is aborted. Until then, the server keeps the process alive. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, "abort");
}

/** Shows the progress of the fill until it is done or the signal is aborted, and warns if it fails. */
export async function showFill(disk: Filling, signal: AbortSignal): Promise<void> {
  const stopped = new AbortController();
  signal.addEventListener("abort", () => stopped.abort(), { once: true });
  const filled = disk.filled.catch((error: unknown) => {
    if (signal.aborted) return;
    process.emitWarning(`the disk will not be complete: ${messageOf(error)}`);
  });
  void filled.then(() => stopped.abort());
  // Outside a terminal, there is nothing to show.
  if (!process.stderr.columns) return;
  const spinner = await startSpinner("filling");
  try {
    await updateUntil(stopped.signal, disk, spinner);
  } finally {
    spinner.stop();
  }
}

async function updateUntil(signal: AbortSignal, disk: Filling, spinner: Spinner): Promise<void> {
  const begun = performance.now();
  while (!signal.aborted) {
    const { bytes, totalBytes } = disk.progress;
    const bytesPerSecond = (1000 * bytes) / (performance.now() - begun);
    const progress = { bytes, totalBytes, bytesPerSecond, retries: 0 };
    spinner.text = progressLine({ ...progress, phase: "fill" }, spinnerColumns());
    await delay(INTERVAL, undefined, { signal }).catch(() => {});
  }
}
