/**
 * Hosts in this process that die at any operation of the file system, as by `kill -9`: nothing that they have begun goes
 * on, and the kernel drops their locks. The operations of the store's folder can also fail or take long.
 *
 * They run in an asynchronous context of their own, by which the patched functions of `node:fs/promises` know them.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import crypto from "node:crypto";
import { setMaxListeners } from "node:events";
import { openSync, readFileSync, utimesSync } from "node:fs";
import promises, { type FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { setImmediate as nextTurn, setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import koffi from "koffi";

/** What happens to an operation on the folder of a store. */
export interface FileFault {
  /** Whether it fails before or after it was carried out. */
  readonly error?: "before" | "after";
  /** How long it takes, in milliseconds. */
  readonly delay?: number;
}

/** Thrown by {@link SimulatedHost.run} when the host dies. */
export class HostDied extends Error {}

const hosts = new AsyncLocalStorage<SimulatedHost>();

/** The path of each open file. */
const paths = new WeakMap<FileHandle, string>();

const dup2: (from: number, to: number) => number = koffi
  .load(null)
  .func("int dup2(int from, int to)");

let sink: number | undefined;

/** Files of hosts that died. They stay open for a while: threads may still write to their numbers. */
const graves: (() => Promise<void>)[] = [];

const MAX_GRAVES = 400;

/** The host that has last written each file. */
const owners = new Map<string, SimulatedHost>();

/** Operations of the file system that take a path. */
const WITH_PATH = ["link", "lstat", "mkdir", "open", "readdir", "realpath", "rename", "rm", "stat"];

const WITH_FILE = [
  ...["chmod", "datasync", "read", "readFile", "stat", "sync", "truncate", "write", "writeFile"],
];

/** Operations that fail: after others, the store could not tell its own fault from that of the file system. */
const FALLIBLE = new Set([
  "open",
  "readdir",
  "readFile",
  "rename",
  "rm",
  "stat",
  "sync",
  "writeFile",
]);

let marks = 0;

/** Returns what the random identities of a host end with: they tell which claims of a store are its own. */
export function newMark(): string {
  marks += 1;
  return marks.toString(16).padStart(12, "0");
}

/** A host that shares a store with others. */
export class SimulatedHost {
  readonly mark = newMark();
  /** Operations that are running, and threads that are being ended. */
  readonly #underWay = new Set<Promise<unknown>>();
  /** What closes each open file, by its number. */
  readonly #files = new Map<number, () => Promise<void>>();
  readonly #threads = new Set<Worker>();
  readonly #died = new AbortController();
  #left = Number.POSITIVE_INFINITY;

  constructor(
    /** The folder of the store, whose operations have faults. */
    readonly store: string,
    readonly faultOf: () => FileFault | undefined,
  ) {
    setMaxListeners(0, this.#died.signal);
  }

  /** Aborted when the host dies. */
  get died(): AbortSignal {
    return this.#died.signal;
  }

  /** Lets the host die at an operation of the file system or of its network. @param operations how many come before it */
  dieAfter(operations: number): void {
    this.#left = operations;
  }

  kill(): void {
    if (this.died.aborted) return;
    this.#died.abort(new HostDied("the host was killed"));
    // Its open files stay as numbers, so that no other file gets them, but lead nowhere. That ends their locks.
    sink ??= openSync("/dev/null", "r+");
    for (const [file, close] of this.#files) {
      dup2(sink, file);
      graves.push(close);
    }
    for (const close of graves.splice(0, Math.max(0, graves.length - MAX_GRAVES))) void close();
    for (const thread of this.#threads) void this.#track(end(thread));
    this.#leave();
  }

  /** Waits until everything has ended that the host has begun until now, if it is dead. */
  async settled(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  #track<T>(begun: Promise<T>): Promise<T> {
    const ended: Promise<unknown> = begun.catch(() => {}).then(() => this.#underWay.delete(ended));
    this.#underWay.add(ended);
    return begun;
  }

  /** Notes a thread that this host uses, which ends with it. */
  uses(thread: Worker): void {
    // Its pool listens to it first.
    if (this.died.aborted) void this.#track(nextTurn().then(() => end(thread)));
    this.#threads.add(thread);
  }

  /** Notes that a thread may serve another host. @throws {HostDied} if it ends with this one */
  leaves(thread: Worker): void {
    if (this.died.aborted) throw new HostDied("the host was killed");
    this.#threads.delete(thread);
  }

  /** Runs an action on this host. Rejects with a {@link HostDied} as soon as the host dies. */
  run<T>(action: () => Promise<T>): Promise<T> {
    const dying = new Promise<never>((_, reject) => {
      const reason = () => reject(this.died.reason);
      if (this.died.aborted) reason();
      else this.died.addEventListener("abort", reason, { once: true });
    });
    return Promise.race([hosts.run(this, action), dying]);
  }

  /** Carries out an operation, unless the host dies. */
  async operate<T>(
    name: string,
    [path, target]: readonly [path: string, target?: string | undefined],
    operation: () => Promise<T>,
  ): Promise<T> {
    await this.#step();
    const isStored = path.startsWith(this.store) && FALLIBLE.has(name);
    const { error, delay } = (isStored ? this.faultOf() : undefined) ?? {};
    if (delay !== undefined) await sleep(delay);
    if (error === "before") throw failure(name);
    if (target !== undefined) owners.set(target, this);
    const isDurable = name === "sync" || name === "datasync";
    // The kernel keeps what a process has written that is killed: only a power failure would need this.
    const result = isDurable ? (undefined as T) : await this.#track(operation());
    if (name === "open") this.#opened(result as FileHandle, path);
    if (this.died.aborted) this.#leave();
    await this.#step();
    if (error !== "after") return result;
    if (name === "open") await (result as FileHandle).close();
    throw failure(name);
  }

  /** Sets the times of the claims of this host back: until that, others wait for minutes. */
  #leave(): void {
    for (const [path, owner] of owners) {
      if (owner !== this) continue;
      owners.delete(path);
      if (!path.startsWith(`${this.store}/tombstones/`)) continue;
      try {
        if (readFileSync(path, "utf8").includes("deleting")) utimesSync(path, 0, 0);
      } catch {
        // It is gone.
      }
    }
  }

  #opened(file: FileHandle, path: string): void {
    const { fd } = file;
    paths.set(file, path);
    const close = file.close.bind(file);
    if (this.died.aborted) {
      dup2(sink as number, fd);
      graves.push(close);
    } else {
      this.#files.set(fd, close);
    }
    file.close = async () => {
      await this.#step();
      this.#files.delete(fd);
      await close();
      await this.#step();
    };
  }

  /** Counts a half of an operation, after which the host may die. */
  count(): void {
    this.#left -= 0.5;
    if (this.#left <= 0) this.kill();
  }

  /** Never returns if the host is dead. */
  async #step(): Promise<void> {
    this.count();
    if (this.died.aborted) await new Promise(() => {});
  }
}

/** The ends of threads. To end a thread also calls its `ref`. */
const ends = new WeakMap<Worker, Promise<unknown>>();

/** Ends a thread, and does not tell those who wait for it, who are dead. */
function end(thread: Worker): Promise<unknown> {
  const begun = ends.get(thread);
  if (begun !== undefined) return begun;
  thread.removeAllListeners();
  const ended = Promise.resolve().then(() => thread.terminate());
  ends.set(thread, ended);
  return ended;
}

function failure(name: string): Error {
  return Object.assign(new Error(`EIO: i/o error, ${name}`), {
    code: "EIO",
    errno: -5,
    syscall: name,
  });
}

type Operation = (this: unknown, ...args: unknown[]) => Promise<unknown>;

/** Replaces methods. @param pathOf the path that an operation is about */
function patch(
  target: Record<string, Operation>,
  names: readonly string[],
  pathOf: (self: unknown, args: readonly unknown[]) => string,
): void {
  for (const name of names) {
    const original = target[name] as Operation;
    target[name] = function (...args) {
      const host = hosts.getStore();
      const operation = () => original.apply(this, args);
      if (host === undefined) return operation();
      const target = name === "rename" ? String(args[1]) : undefined;
      return host.operate(name, [pathOf(this, args), target], operation);
    };
  }
}

const any = await promises.open("/dev/null");
const prototype = Object.getPrototypeOf(any) as Record<string, Operation>;
await any.close();
patch(prototype, WITH_FILE, (self) => paths.get(self as FileHandle) ?? "");
patch(promises as unknown as Record<string, Operation>, WITH_PATH, (_, [path]) => String(path));
const { randomUUID } = crypto;
(crypto as { randomUUID: () => string }).randomUUID = () => {
  const mark = hosts.getStore()?.mark ?? "";
  const text = randomUUID();
  return text.slice(0, text.length - mark.length) + mark;
};
const { ref, unref } = Worker.prototype;
Worker.prototype.ref = function (this: Worker) {
  hosts.getStore()?.uses(this);
  ref.call(this);
};
Worker.prototype.unref = function (this: Worker) {
  hosts.getStore()?.leaves(this);
  unref.call(this);
};
syncBuiltinESMExports();
