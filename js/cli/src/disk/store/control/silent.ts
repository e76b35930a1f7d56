import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

import { CliError } from "../../../error.js";

/** The time between two questions whether a process answers, and for an answer, in milliseconds. */
const [INTERVAL, TIMEOUT] = [1_000, 2_000] as const;

/** How many answers may be missing in a row if the process is not stopped: it may be busy. */
const MAX_MISSING = 10;

/**
 * Waits until the process that listens at a socket no longer answers, such as because it is stopped. Saving may take
 * any time, and its response says nothing until the end.
 *
 * @throws {CliError} `ERR_SOURCE` with the process and what to do
 */
export async function untilSilent(socket: string, name: string, signal: AbortSignal) {
  for (let missing = 0; !signal.aborted; ) {
    await delay(INTERVAL, undefined, { signal });
    missing = (await isAnswering(socket)) ? 0 : missing + 1;
    if (missing === 0) continue;
    const pid = await listenerOf(socket);
    const isStopped = pid !== undefined && (await isStoppedProcess(pid));
    if (!isStopped && missing < MAX_MISSING) continue;
    const [who, id] = pid === undefined ? ["", "its ID"] : [`, process ${pid},`, pid];
    const state = isStopped
      ? `is stopped: continue it with kill -CONT ${id}`
      : "does not answer: wait";
    const end = `end it with kill -9 ${id} and attach the disk again, which has all changes`;
    const message = `the process that has attached ${name}${who} ${state}, or ${end}`;
    throw new CliError("ERR_SOURCE", message);
  }
}

/** Whether there is any response in time. A socket without a listener is not silent. */
function isAnswering(socketPath: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ socketPath, path: "/", agent: false, timeout: TIMEOUT });
    asked.on("response", (response) => {
      response.resume();
      resolve(true);
    });
    asked.on("timeout", () => {
      resolve(false);
      asked.destroy();
    });
    asked.on("error", () => resolve(true));
    asked.end();
  });
}

/** Returns the process that listens at a socket. It has bound the socket at a path that ends with its ID. */
async function listenerOf(socket: string): Promise<string | undefined> {
  const sockets = await readFile("/proc/net/unix", "utf8").catch(() => "");
  const bound = sockets.split("\n").find((line) => line.includes(` ${socket}.`));
  return bound?.slice(bound.lastIndexOf(".") + 1).trim();
}

async function isStoppedProcess(pid: string): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return /^State:\s+[Tt]/m.test(status);
}
