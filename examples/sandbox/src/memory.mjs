// Presents a volume as a file with nbdfuse. A machine maps the file as its memory.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { open, rm, stat, writeFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/** How many times to try to unmount a file that is in use. */
const MAX_TRIES = 50;

/** Runs nbdfuse. If the program is killed, ends the mount first: nbdfuse would wait for its server, and machines for it. */
const SERVE = `nbdfuse "$1" "$2" & trap 'fusermount3 -uz "$1"; kill -KILL $!' TERM; wait $!`;

/**
 * Mounts a volume at a path, where an empty file is made.
 *
 * @param {import("@hedgerow/snapshot").DiskVolume} volume
 * @param {string} path
 */
export async function mountMemory(volume, path) {
  const server = await volume.listen({ path: `${path}.socket` });
  // A program that was killed may have left its mount.
  if (await stat(path).then(() => false, isDead)) await unmount("-uz", path);
  await writeFile(path, "");
  const { dev } = await stat(path);
  const args = ["--pdeathsig", "TERM", "sh", "-c", SERVE, "sh", path, server.uri];
  const engine = spawn("setpriv", args, { detached: true, stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(engine, "exit");
  while ((await stat(path)).dev === dev) {
    if (engine.exitCode !== null) throw new Error("nbdfuse has failed");
    await delay(2);
  }
  return {
    /** Resolves when the mount has ended. */
    ended,
    /** Writes back what the machine has written: the volume then has it. */
    async flush() {
      const file = await open(path, "r+");
      await file.datasync();
      await file.close();
    },
    /** Writes back everything, and ends the mount. */
    async unmount() {
      for (let tries = 0; tries < MAX_TRIES && engine.exitCode === null; tries += 1) {
        // A machine that was killed may still be about to let go of it.
        if ((await unmount("-u", path)) === 0) break;
        await delay(20);
      }
      if (engine.exitCode === null && engine.signalCode === null) await ended;
      else await unmount("-uz", path);
      await server.close();
      await rm(path, { force: true });
    },
  };
}

/** Returns whether a file is of a mount whose server has died. @param {NodeJS.ErrnoException} error */
const isDead = ({ code }) => code === "ENOTCONN";

/** @param {string[]} args */
async function unmount(...args) {
  const [code] = await once(spawn("fusermount3", args, { stdio: "ignore" }), "exit");
  return code;
}
