/** Serves a disk, and shows the progress of its fill. */
import { subscribe } from "node:diagnostics_channel";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";

import { type Disk, type Events, type ListenOptions, openSnapshot } from "@hedgerow/snapshot";
import prettyBytes from "pretty-bytes";

import { messageOf } from "../error.js";
import { progressLine, type Spinner, spinnerColumns, startSpinner } from "../progress.js";
import { openCache } from "../snapshot/options.js";
import { type DiskFlags, openOptionsOf } from "./options.js";

/** How often progress is shown, in milliseconds. */
const INTERVAL = 100;

/** A disk whose data is arriving. */
type Filling = Pick<Disk, "filled" | "progress">;

/** A disk that is open and served. */
export interface Served {
  readonly disk: Disk;
  /** The URI of the export. */
  readonly uri: string;
  /** Ends the connections of clients. */
  readonly stop: () => Promise<void>;
}

/** A disk to serve. */
interface Serving {
  readonly source: string;
  readonly image: string;
  readonly readOnly: boolean;
  readonly listen: ListenOptions;
  readonly flags: DiskFlags;
  /** Aborted by a signal. */
  readonly signal: AbortSignal;
}

/**
 * Opens a disk and serves it while `use` runs, with a progress line on a terminal. When `use` has ended, makes all
 * writes durable.
 */
export async function serveDisk(
  { source, image, readOnly, listen, flags, signal }: Serving,
  use: (served: Served) => Promise<void>,
): Promise<void> {
  warnOfFullDisks();
  await using cache = await openCache(flags);
  const options = { ...openOptionsOf(flags), image, readOnly, cache, signal };
  await using disk = await openSnapshot(source, options);
  const server = await disk.listen(listen);
  const ended = new AbortController();
  const showing = showFill(disk, ended.signal);
  try {
    await use({ disk, uri: server.uri, stop: () => server.close() });
  } finally {
    ended.abort();
    await showing;
  }
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
