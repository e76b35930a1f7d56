/** Stores of disks in a folder, and processes that attach their disks. */
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";

import { NBD, NbdClient } from "../../../snapshot/test/support/nbd-client.js";
import { ended, hedgerow, start } from "./bin.js";
import { SMALL } from "./images.js";
import { makeTree } from "./tree.js";

/** A disk that was attached, as `disk attach --json` prints it. */
export interface Attached {
  readonly uri: string;
  readonly name: string;
  readonly generation: number;
  readonly epoch: number;
  readonly size: number;
  readonly path: string;
}

/** A folder with the image of a disk, and places for a store and everything else that commands write. */
export function makePlaces() {
  const root = makeTree({ "disk.img": SMALL, "run/": "", "state/": "" });
  const [store, image, socket] = ["store", "disk.img", "socket"].map((name) =>
    join(root, name),
  ) as [string, string, string];
  const env = { XDG_RUNTIME_DIR: join(root, "run"), XDG_STATE_HOME: join(root, "state") };
  return { root, store, image, socket, env };
}

/** A store with a disk, and the arguments that attach it. */
export async function withDisk() {
  const places = makePlaces();
  const { store, image, socket } = places;
  await json(["create", store, "alice", "--image", image]);
  return { ...places, args: [store, "alice", "--socket", socket] };
}

/** Returns the path of the control socket of the only disk that is attached. */
export function controlSocket(env: NodeJS.ProcessEnv): string {
  const folder = join(env.XDG_RUNTIME_DIR ?? "", "hedgerow");
  const [name = "", ...others] = readdirSync(folder);
  expect([name, others]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), []]);
  return join(folder, name);
}

/** Runs a command in a process of the test, with `--json`. It must succeed. */
export async function json(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { code, out, err } = await hedgerow(["disk", ...args, "--json"], "", env);
  expect({ code, err }, args.join(" ")).toEqual({ code: 0, err: "" });
  expect(out).toMatch(/^\{.*\}\n$/);
  return JSON.parse(out);
}

/** Runs a command with `--json`, which must fail, and returns its exit code and its error. */
export async function failure(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const { code, out, err } = await hedgerow(["disk", ...args, "--json"], "", env);
  expect(out).toBe("");
  return { exit: code, ...(JSON.parse(err).error as { code: string; message: string }) };
}

/** Starts `disk attach`, and waits for its first output. */
export async function attach(args: readonly string[], env: NodeJS.ProcessEnv) {
  const child = start(["disk", "attach", ...args], env);
  onTestFinished(() => void child.kill("SIGKILL"));
  const end = ended(child);
  let err = "";
  child.stderr.on("data", (data) => {
    err += data;
  });
  const failed = end.then(({ err }) => Promise.reject(new Error(err)));
  const [out] = await Promise.race([once(child.stdout, "data"), failed]);
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return end;
  };
  return { child, out: String(out), end, stop, err: () => err };
}

/** Writes to the beginning of a served disk. */
export async function writeTo(socket: string, data: Buffer, flags = 0): Promise<void> {
  const client = await NbdClient.open(socket);
  expect((await client.request({ type: NBD.cmd.write, data, flags })).errno).toBe(0);
  await client.close();
}

/** Reads from the beginning of a served disk. */
export async function readFrom(socket: string, length: number): Promise<Buffer> {
  const client = await NbdClient.open(socket);
  const bytes = await client.readAt(0, length);
  await client.close();
  return bytes;
}
