// Other NBD servers of a file, as processes of their own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** Attempts to reach a server, and milliseconds between them. */
const [ATTEMPTS, INTERVAL] = [2000, 5];

/** The kernel ends a server when this process ends. */
const UNTIL_WE_END = ["--pdeathsig", "KILL"];

/**
 * Starts a program in the background. `stop` ends it.
 *
 * @param {string} program
 * @param {string[]} args
 */
export function start(program, ...args) {
  const child = spawn("setpriv", [...UNTIL_WE_END, program, ...args], { stdio: "ignore" });
  const exit = once(child, "exit");
  return {
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    async stop() {
      child.kill("SIGTERM");
      await exit;
    },
  };
}

/** Returns the URI of a server. @param {string} socket */
export const uriOf = (socket) => `nbd+unix:///?socket=${socket}`;

/** Waits for the greeting of a server. @param {string} socket @param {() => boolean} [hasEnded] */
export async function greeting(socket, hasEnded = () => false) {
  for (let attempt = 0; attempt < ATTEMPTS && !hasEnded(); attempt += 1) {
    const client = connect(socket);
    try {
      await once(client, "data");
      return;
    } catch {
      await sleep(INTERVAL);
    } finally {
      client.destroy();
    }
  }
  throw new Error(`no NBD server answers on ${socket}`);
}

/** Starts `qemu-nbd`. @param {string} image @param {string} socket */
export const startQemuNbd = (image, socket) =>
  serve(socket, "qemu-nbd", "--read-only", "--persistent", "--shared=16", "--format=raw", [
    ...[`--socket=${socket}`, image],
  ]);

/** Starts `nbdkit file`. @param {string} image @param {string} socket @param {string[]} options */
export const startNbdkit = (image, socket, ...options) =>
  serve(socket, "nbdkit", "--foreground", `--unix=${socket}`, ...options, ["file", image]);

/**
 * Starts nbdkit as a server of an image over HTTP. It caches blocks when they are read, and keeps what is written. Of
 * blocks of 64 KiB, the default, to 2 MiB, a boot was fastest with those of 1 MiB.
 *
 * @param {string} url
 * @param {string} socket
 */
export const startNbdkitCurl = (url, socket) =>
  serve(socket, "nbdkit", "--foreground", `--unix=${socket}`, "--filter=cow", [
    ...["curl", `url=${url}`, "cow-on-read=true", "cow-block-size=1M"],
  ]);

/**
 * Starts nbdkit as a proxy that logs the requests of its clients.
 *
 * @param {string} uri
 * @param {string} socket
 * @param {string} log
 */
export const startLogging = (uri, socket, log) =>
  serve(socket, "nbdkit", "--foreground", `--unix=${socket}`, "--filter=log", [
    ...["nbd", `uri=${uri}`, `logfile=${log}`],
  ]);

/** Starts an engine that makes a socket of vhost-user-blk of a server. @param {string} socket @param {string} path */
export const startVhostUser = (socket, path) =>
  vhostUser(path, `driver=nbd,server.type=unix,server.path=${socket}`);

/** Starts the same for a file. @param {string} file @param {string} path */
export const startVhostUserFile = (file, path) => vhostUser(path, `driver=file,filename=${file}`);

/** @param {string} path @param {string} node */
const vhostUser = (path, node) =>
  device(path, "qemu-storage-daemon", [
    ...["--blockdev", `${node},node-name=disk`, "--export"],
    `type=vhost-user-blk,id=disk,node-name=disk,addr.type=unix,addr.path=${path},writable=on`,
  ]);

/** Starts an engine that makes a file of a server. @param {string} socket @param {string} path */
export const startNbdfuse = (socket, path) => device(path, "nbdfuse", [path, uriOf(socket)]);

/** @param {string} path @param {string} program @param {string[]} args */
async function device(path, program, args) {
  const engine = start(program, ...args);
  while (!existsSync(path)) {
    if (engine.hasEnded()) throw new Error(`${program} has ended`);
    await sleep(INTERVAL);
  }
  return engine;
}

/** @param {string} socket @param {string} program @param {(string | string[])[]} args */
async function serve(socket, program, ...args) {
  const server = start(program, ...args.flat());
  await greeting(socket, server.hasEnded);
  return server;
}
