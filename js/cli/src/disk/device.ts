/** Devices that monitors open: engines make them of the NBD export of a disk. */
import { existsSync } from "node:fs";
import { lstat, open, rm, stat } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

import { checkEngine, type Engine, type EngineName, startEngine } from "../engine.js";
import { CliError, messageOf, systemCode } from "../error.js";

export const DEVICES = ["vhost-user-blk", "nbd-device", "file"] as const;

export type DeviceKind = (typeof DEVICES)[number];

/** The time between two checks whether a device is there, in milliseconds. */
const POLL_INTERVAL = 5;

/** The maximum number of these checks. */
const MAX_POLLS = 2000;

/** How many times to try to unmount a file that is in use. */
const MAX_UNMOUNTS = 20;

/** The pause between two attempts to unmount, in milliseconds. */
const UNMOUNT_INTERVAL = 100;

/** How long an engine may take to end, in milliseconds. */
const END_TIMEOUT = 5_000;

/** An engine that ends sooner has failed, in milliseconds. */
const MIN_RUN = 1_000;

/** How often in a row an engine may fail. */
const MAX_FAILURES = 5;

/** The export that an engine reads and writes. */
export interface Export {
  /** The path of the Unix socket. */
  readonly socket: string;
  readonly uri: string;
  readonly name: string | undefined;
  readonly readOnly: boolean;
  /** The size of the disk, in bytes. */
  readonly size: number;
  /** Aborted when the device is not needed any more. */
  readonly signal: AbortSignal;
}

/** A device that is there until it is disposed of. */
export interface Device extends AsyncDisposable {
  /** Resolves with the reason when the engine has failed for good. */
  readonly failed: Promise<string>;
}

/**
 * Makes a device.
 *
 * @param path of the socket, block device or file
 * @throws {CliError} `ERR_OUTPUT`
 */
export async function startDevice(
  kind: DeviceKind,
  path: string,
  export_: Export,
): Promise<Device> {
  if (kind === "vhost-user-blk") return startVhostUser(path, export_);
  return kind === "file" ? startFile(path, export_) : startNbdDevice(path, export_);
}

/** Starts `qemu-storage-daemon`, and again when it has ended: machines connect again. */
async function startVhostUser(path: string, { socket, name, readOnly, signal }: Export) {
  const found = await lstat(path).catch(() => undefined);
  if (found?.isSocket() === false) throw failure(path, "it exists, and is not a socket");
  const server = { "server.type": "unix", "server.path": socket, "reconnect-delay": "10" };
  const node = { driver: "nbd", "node-name": "disk", ...server, ...(name && { export: name }) };
  const address = { "addr.type": "unix", "addr.path": path };
  const type = { type: "vhost-user-blk", id: "device", "node-name": "disk" };
  const writable = readOnly ? "off" : "on";
  const args = [
    ...["--blockdev", optionsOf({ ...node, "read-only": readOnly ? "on" : "off" })],
    ...["--export", optionsOf({ ...type, ...address, writable })],
  ];
  const start = async () => {
    await rm(path, { force: true });
    const engine = await startBound(path, "qemu-storage-daemon", args);
    await untilReady(engine, path, signal, () => existsSync(path));
    return engine;
  };
  let engine = await start();
  let isStopped = false;
  const failed = (async () => {
    for (let failures = 0; ; ) {
      const begun = performance.now();
      const reason = (await engine.ended) ?? "qemu-storage-daemon has ended";
      if (isStopped) return reason;
      failures = performance.now() - begun < MIN_RUN ? failures + 1 : 1;
      if (failures === MAX_FAILURES) return reason;
      process.emitWarning(`${reason}; starting it again`);
      try {
        engine = await start();
      } catch (error) {
        return messageOf(error);
      }
    }
  })();
  return {
    failed,
    async [Symbol.asyncDispose]() {
      isStopped = true;
      await end(engine);
      await rm(path, { force: true });
    },
  };
}

/** Returns options as QEMU takes them. A comma in a value is written twice. */
function optionsOf(options: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(options).map(
    ([key, value]) => `${key}=${value.replaceAll(",", ",,")}`,
  );
  return pairs.join(",");
}

/**
 * Runs `nbdfuse`. If this process is killed, ends the mount first: after a signal, `nbdfuse` would wait for the server, which
 * is this process, and users of the file for `nbdfuse`.
 */
const SERVE_FILE = `
path=$1; shift
nbdfuse "$@" &
trap 'fusermount3 -uz "$path"; kill -KILL $!' TERM
wait $! 2>/dev/null || { code=$?; [ $code -lt 128 ] || echo "nbdfuse ended with SIG$(kill -l $code)" >&2; exit $code; }`;

/** Has `nbdfuse` cover a file. */
async function startFile(path: string, { uri, readOnly, size, signal }: Export) {
  let isNew = true;
  try {
    // A command that was killed may have left its mount.
    if (await isDeadMount(path)) await unmount("-uz", path);
    await (await open(path, "wx", 0o600)).close();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw failure(path, messageOf(error));
    isNew = false;
    if (!(await stat(path)).isFile()) throw failure(path, "it exists, and is not a file");
  }
  const remove = async () => {
    if (isNew) await rm(path, { force: true });
  };
  await checkEngine("nbdfuse", `serve the disk at ${path}`);
  const args = [...(readOnly ? ["--readonly"] : []), path, uri];
  const engine = startEngine("sh", ["-c", SERVE_FILE, "sh", path, ...args], { isBound: true });
  try {
    const { dev } = await stat(path);
    // Another file system has another device.
    await untilReady(engine, path, signal, async () => {
      const found = await stat(path);
      return found.dev !== dev && found.size === size;
    });
  } catch (error) {
    await unmountFile(engine, path);
    await remove();
    throw error;
  }
  return {
    failed: engine.ended.then((reason) => reason ?? "nbdfuse has ended"),
    async [Symbol.asyncDispose]() {
      await unmountFile(engine, path);
      await remove();
    },
  };
}

/** Unmounts a file of nbdfuse, which then ends. */
async function unmountFile(engine: Engine, path: string): Promise<void> {
  if (engine.child.pid === undefined) return;
  for (let tries = 0; tries < MAX_UNMOUNTS && engine.child.exitCode === null; tries += 1) {
    if ((await unmount("-u", path)) === undefined) break;
    await delay(UNMOUNT_INTERVAL);
  }
  // A mount stays when its engine was killed. Users of the file keep it until they end.
  const { exitCode, signalCode } = engine.child;
  if (exitCode === null || signalCode !== null || (await isDeadMount(path)))
    await unmount("-uz", path);
  await end(engine);
}

const unmount = (...args: string[]) => startEngine("fusermount3", args).ended;

/** Returns whether a file is of a mount whose server has died. */
async function isDeadMount(path: string): Promise<boolean> {
  const find = stat(path).then(() => undefined, systemCode);
  return (await find) === "ENOTCONN";
}

/** Has `nbd-client` connect a block device of the kernel, or `nbdublk` make one. */
async function startNbdDevice(path: string, { socket, uri, name, readOnly, signal }: Export) {
  const isUblk = path.startsWith("/dev/ublkb");
  const needed = isUblk ? "/dev/ublk-control" : path;
  if (!existsSync(needed)) {
    const module = isUblk ? "ublk_drv" : "nbd";
    const message = `${needed} is missing: this needs the kernel module ${module} (modprobe ${module}); --serve vhost-user-blk and --serve file work without it`;
    throw failure(path, message);
  }
  const names = name === undefined ? [] : ["-N", name];
  const client = ["-unix", socket, ...names, "-nofork", ...(readOnly ? ["-readonly"] : []), path];
  const engine = isUblk
    ? await startBound(path, "nbdublk", [...(readOnly ? ["--readonly"] : []), path, uri])
    : await startBound(path, "nbd-client", client);
  await untilReady(engine, path, signal, async () => {
    const sized = startEngine("blockdev", ["--getsize64", path]);
    return (await sized.ended) === undefined && Number(sized.output()) > 0;
  });
  return {
    failed: engine.ended.then((reason) => reason ?? `the engine of ${path} has ended`),
    async [Symbol.asyncDispose]() {
      await startEngine("blockdev", ["--flushbufs", path]).ended;
      if (!isUblk) await startEngine("nbd-client", ["-d", path]).ended;
      await end(engine);
    },
  };
}

/** Starts an engine that ends with this process. */
async function startBound(path: string, name: EngineName, args: readonly string[]) {
  await checkEngine(name, `serve the disk at ${path}`);
  return startEngine(name, args, { isBound: true });
}

/** Waits until a device is there. @throws {CliError} `ERR_OUTPUT` if its engine ends or takes too long */
async function untilReady(
  engine: Engine,
  path: string,
  signal: AbortSignal,
  isReady: () => boolean | Promise<boolean>,
): Promise<void> {
  let ended: { readonly reason: string | undefined } | undefined;
  void engine.ended.then((reason) => {
    ended = { reason };
  });
  for (let polls = 0; polls < MAX_POLLS && !signal.aborted; polls += 1) {
    if (ended !== undefined) throw failure(path, ended.reason ?? "its engine has ended");
    if (await isReady()) return;
    await delay(POLL_INTERVAL);
  }
  await end(engine);
  signal.throwIfAborted();
  throw failure(path, "its engine does not start");
}

/** Ends an engine, which makes all writes durable first. */
async function end({ child, ended, kill }: Engine): Promise<void> {
  child.kill("SIGTERM");
  const timer = setTimeout(kill, END_TIMEOUT);
  await ended;
  clearTimeout(timer);
}

const failure = (path: string, reason: string) =>
  new CliError("ERR_OUTPUT", `cannot serve the disk at ${path}: ${reason}`);
