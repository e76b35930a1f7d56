// The disks of a node: attaches named disks for its pods, each as a block device, or as a file where the node has none.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

import { run, variable } from "./environment.mjs";
import { jsonServer, listenAt, RequestError } from "./http.mjs";

/** The maximum number of connections to the server, and so of requests at a time. */
const MAX_CONNECTIONS = 64;

/** A route to a disk: `/disks/` and its name. */
const ROUTE = /^\/disks\/([a-z0-9][a-z0-9._-]{0,127})$/i;

/** The statuses of errors of the command. @type {Record<string, number>} */
const STATUSES = { ERR_NO_DISK: 404, ERR_ATTACHED: 409, ERR_ARGUMENT: 400 };

const COMMAND = join(
  dirname(createRequire(import.meta.url).resolve("@hedgerow/cli/package.json")),
  "bin/hedgerow.js",
);

/** What pods open. @typedef {{ path: string, kind: "nbd-device" | "file" }} Device */

/** A disk that is attached: the command that serves it. */
class Attached {
  #child;
  /** Resolves with what pods open. @type {Promise<Device>} */
  ready;
  /** Resolves when the command has ended, with the signal that ended it and what it has printed. */
  ended;
  /** @type {Promise<void> | undefined} */
  #detaching;

  /**
   * @param {string} name
   * @param {Device} device
   * @param {{ store: string, images: string, sockets: string }} places
   */
  constructor(name, device, { store, images, sockets }) {
    this.path = device.path;
    // The path of a socket may not be long.
    const socket = `${createHash("sha256").update(name).digest("hex").slice(0, 16)}.socket`;
    const child = spawn(process.execPath, [
      ...[COMMAND, "disk", "attach", store, name, "--serve", device.kind, "--at", device.path],
      // A pod that connects again must not reach the disk of another one.
      ...["--socket", join(sockets, socket), "--export-name", name, "--images", images, "--json"],
    ]);
    this.#child = child;
    let printed = "";
    child.stderr.setEncoding("utf8").on("data", (chunk) => {
      printed += chunk;
    });
    this.ended = once(child, "close").then(
      ([, signal]) => ({ signal, printed }),
      (error) => ({ signal: null, printed: error.message }),
    );
    this.ready = new Promise((resolve, reject) => {
      child.stdout.once("data", () => resolve(device));
      this.ended.then((ended) => reject(failure(ended.printed)));
    });
    // Each request for the disk gets the error.
    this.ready.catch(() => {});
  }

  get isDetaching() {
    return this.#detaching !== undefined;
  }

  /** Saves the disk, and detaches it. */
  detach() {
    this.#detaching ??= this.#detach();
    return this.#detaching;
  }

  async #detach() {
    // Earlier, a signal would end the command before it could save anything, and a second one would end a save.
    await this.ready;
    this.#child.kill("SIGTERM");
    const { signal, printed } = await this.ended;
    if (signal !== "SIGTERM") throw failure(printed);
  }
}

/** Returns the error that the command has printed. @param {string} printed */
function failure(printed) {
  const line = printed.split("\n").find((each) => each.startsWith('{"error":'));
  if (line === undefined) return new Error(printed || "the command has ended");
  const { code, message } = JSON.parse(line).error;
  return new RequestError(STATUSES[code] ?? 500, code, message);
}

class Disks {
  #places;
  #folder;
  /** @type {Map<string, Attached>} */
  #attached = new Map();
  #isClosing = false;

  /**
   * @param {string} folder where pods find files
   * @param {{ store: string, images: string, sockets: string }} places
   */
  constructor(folder, places) {
    this.#folder = folder;
    this.#places = places;
  }

  /** Attaches a disk, unless it is attached. @param {string} name @returns {Promise<Device>} */
  attach(name) {
    if (this.#isClosing) throw new RequestError(503, "ERR_DRAINING", "the agent is ending");
    const found = this.#attached.get(name);
    if (found?.isDetaching) throw new RequestError(409, "ERR_ATTACHED", `${name} is being saved`);
    if (found !== undefined) return found.ready;
    const device = this.#freeDevice();
    const file = { path: join(this.#folder, name), kind: /** @type {const} */ ("file") };
    const attached = new Attached(name, device ?? file, this.#places);
    this.#attached.set(name, attached);
    attached.ended.then(({ signal, printed }) => {
      this.#attached.delete(name);
      if (signal !== "SIGTERM") console.error(`${name}: ${printed.trim()}`);
    });
    return attached.ready;
  }

  /** Saves a disk, and detaches it. @param {string} name */
  async detach(name) {
    const attached = this.#attached.get(name);
    if (attached === undefined)
      throw new RequestError(404, "ERR_NO_DISK", `${name} is not attached`);
    await attached.detach();
    return {};
  }

  /** Saves all disks, and detaches them. */
  async close() {
    this.#isClosing = true;
    await Promise.allSettled([...this.#attached.values()].map((each) => each.detach()));
  }

  /** Returns a device that no one uses. The node has devices if its kernel has the module `nbd`. @returns {Device | undefined} */
  #freeDevice() {
    const used = new Set([...this.#attached.values()].map(({ path }) => path));
    const path = readdirSync("/sys/block")
      .filter((name) => name.startsWith("nbd") && !existsSync(`/sys/block/${name}/pid`))
      .map((name) => `/dev/${name}`)
      .find((each) => existsSync(each) && !used.has(each));
    return path === undefined ? undefined : { path, kind: "nbd-device" };
  }
}

async function main() {
  const asked = once(process, "SIGTERM");
  process.umask(0o077);
  const data = variable("DATA", "/var/lib/hedgerow-disks");
  const shared = variable("SHARED", "/run/hedgerow-disks");
  const places = {
    store: variable("STORE"),
    images: join(data, "images"),
    sockets: join(data, "sockets"),
  };
  const folder = join(shared, "files");
  for (const each of [places.images, places.sockets, folder]) mkdirSync(each, { recursive: true });
  const disks = new Disks(folder, places);
  const server = jsonServer(({ method, url = "" }) => {
    const [, name] = ROUTE.exec(url) ?? [];
    if (name !== undefined && method === "PUT") return disks.attach(name);
    if (name !== undefined && method === "DELETE") return disks.detach(name);
    throw new RequestError(404, "ERR_ROUTE", "expected PUT or DELETE /disks/NAME");
  }, MAX_CONNECTIONS);
  const socket = join(shared, "agent.sock");
  await listenAt(server, socket);
  // Disks are served on if a connection cannot be accepted.
  server.on("error", (error) => console.error(error.message));
  console.log(`the agent for disks listens at ${socket}`);

  await asked;
  server.close();
  await disks.close();
  server.closeAllConnections();
}

await run(main);
