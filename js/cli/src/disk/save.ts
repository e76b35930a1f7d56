/** The commands that ask the process that has attached a disk to save or detach it. */
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

import type { SavedGeneration } from "@hedgerow/snapshot";
import { type Command, InvalidArgumentError, Option } from "commander";

import { CliError, type ErrorCode, messageOf, systemCode } from "../error.js";
import { jsonOption, type OutputFlags } from "../options.js";
import { socketPaths } from "./control.js";
import { printGeneration } from "./inspect.js";
import { labelOption, nameArgument, storeArgument } from "./options.js";

interface SaveFlags extends OutputFlags {
  readonly label?: string;
  readonly metadata?: unknown;
}

/** Adds `hedgerow disk save`. */
export function addSaveCommand(disk: Command): void {
  disk
    .command("save")
    .description(
      "save a disk that a process of this user has attached on this host, while it is in use",
    )
    .addArgument(storeArgument())
    .addArgument(nameArgument())
    .addOption(labelOption())
    .addOption(metadataOption())
    .addOption(jsonOption())
    .action((place: string, name: string, flags: SaveFlags) => ask(place, name, "save", flags));
}

/** Adds `hedgerow disk detach`. */
export function addDetachCommand(disk: Command): void {
  disk
    .command("detach")
    .description(
      "save and detach a disk that a process of this user has attached on this host; ends that process",
    )
    .addArgument(storeArgument())
    .addArgument(nameArgument())
    .addOption(metadataOption())
    .addOption(jsonOption())
    .action((place: string, name: string, flags: SaveFlags) => ask(place, name, "detach", flags));
}

const metadataOption = () =>
  new Option("--metadata <json>", "what the generation carries, at most 4 KiB").argParser(
    parseJson,
  );

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new InvalidArgumentError("expected JSON");
  }
}

async function ask(place: string, name: string, action: "save" | "detach", flags: SaveFlags) {
  const { label, metadata } = flags;
  const body = { label, metadata };
  const saved = (await askAttached(place, name, action, body)) as SavedGeneration;
  await printGeneration({ ...saved, time: new Date(saved.time) }, flags);
}

/** The maximum length of a response, in characters. */
const MAX_RESPONSE = 65_536;

/**
 * Asks the process that has attached a disk on this host to save or detach it. Returns its result.
 *
 * @param place the store, as in a command line
 * @throws {CliError} `ERR_SOURCE` if there is no such process, and what the action throws
 */
async function askAttached(
  place: string,
  name: string,
  action: "save" | "detach",
  body: object,
): Promise<unknown> {
  const { paths, refusal } = await socketPaths(place, name);
  const found = await postToFirst(paths, name, action, JSON.stringify(body)).catch((error) => {
    if (error instanceof CliError) throw error;
    const message = `the process that has attached ${name} did not answer: ${messageOf(error)}`;
    throw new CliError("ERR_SOURCE", message);
  });
  if (found === undefined && refusal !== undefined) throw refusal;
  if (found === undefined) {
    const message = `${name} is not attached by a process of this user on this host, or that process has another XDG_RUNTIME_DIR or a private /tmp: set XDG_RUNTIME_DIR to the same directory for both`;
    throw new CliError("ERR_SOURCE", message);
  }
  const { status, text } = found;
  const result = JSON.parse(text) as { error?: { code: ErrorCode; message: string } };
  if (status === 200) return result;
  const { code = "ERR_SOURCE", message = `unexpected status ${status}` } = result.error ?? {};
  throw new CliError(code, message);
}

/** Posts to the first socket at which a process listens. Returns undefined if there is none. */
async function postToFirst(sockets: readonly string[], name: string, action: string, body: string) {
  for (const socket of sockets) {
    const ending = new AbortController();
    const { signal } = ending;
    const silent = untilSilent(socket, name, signal).then(() => undefined);
    silent.catch(() => {});
    try {
      return await Promise.race([post(socket, `/${action}`, body, signal), silent]);
    } catch (error) {
      if (!["ENOENT", "ECONNREFUSED"].includes(systemCode(error) ?? "")) throw error;
    } finally {
      ending.abort();
    }
  }
  return undefined;
}

async function post(socketPath: string, path: string, body: string, signal: AbortSignal) {
  const headers = { "content-type": "application/json" };
  const sent = request({ socketPath, path, method: "POST", headers, agent: false, signal });
  // The caller may have given up.
  sent.on("error", () => {});
  sent.end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) {
    text += chunk;
    if (text.length > MAX_RESPONSE) throw new Error("expected a shorter response");
  }
  return { status: response.statusCode, text };
}

/** The time between two checks that a process answers, in milliseconds. */
const INTERVAL = 1_000;

/** The time for an answer, in milliseconds. */
const TIMEOUT = 2_000;

/** How many consecutive answers may be missing while the process is not stopped: it may be busy. */
const MAX_MISSING = 10;

/**
 * Waits until the process that listens at a socket no longer answers, such as because it is stopped. A save may take
 * any time, and sends its response only at the end.
 *
 * @throws {CliError} `ERR_SOURCE` with the process and what to do
 */
async function untilSilent(socket: string, name: string, signal: AbortSignal) {
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

/** Whether there is any response in time. An error counts as one, such as that of a socket without a listener. */
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

/** Returns the process that listens at a socket. It has bound the socket to a path that ends with its ID. */
async function listenerOf(socket: string): Promise<string | undefined> {
  const sockets = await readFile("/proc/net/unix", "utf8").catch(() => "");
  const bound = sockets.split("\n").find((line) => line.includes(` ${socket}.`));
  return bound?.slice(bound.lastIndexOf(".") + 1).trim();
}

async function isStoppedProcess(pid: string): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return /^State:\s+[Tt]/m.test(status);
}
