/** Stores of disks in other processes, which can be killed. */
import { type ChildProcess, spawn } from "node:child_process";
import { setMaxListeners } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { AttachOptions, StoreOptions, UnsavedImage } from "@hedgerow/snapshot";
import type { ModelDisk, ModelVolume } from "./joined-disk.js";
import { HostDied, newMark } from "./simulated-host.js";
import type { ModelRunner, ModelStore } from "./store-model.js";

const SCRIPT = fileURLToPath(new URL("store-process.mjs", import.meta.url));

/** The state of a disk in another process. */
type State = Pick<ModelDisk, "generation" | "epoch" | "size" | "image" | "changedBytes"> & {
  readonly lost: boolean;
  readonly volumes: Readonly<Record<string, Pick<ModelVolume, "size" | "changedBytes">>>;
};

/** The end of a call. */
interface End {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { readonly code: string; readonly message: string };
  readonly state?: State;
}

/** A process that works with a store. */
export class StoreProcess implements ModelRunner {
  readonly mark = newMark();
  readonly #child: ChildProcess;
  readonly #died = new AbortController();
  readonly #pending = new Map<number, (end: End) => void>();
  #calls = 0;
  readonly store: ModelStore;

  /**
   * @param clock the number of milliseconds by which its clock is wrong
   * @param env variables that it has besides those of this process
   */
  constructor(clock = 0, env: NodeJS.ProcessEnv = {}) {
    setMaxListeners(0, this.died);
    this.#child = spawn(process.execPath, [SCRIPT], {
      stdio: ["pipe", "pipe", "inherit"],
      env: {
        ...process.env,
        ...env,
        ...{ HEDGEROW_CLOCK: `${clock}`, HEDGEROW_MARK: this.mark, NODE_NO_WARNINGS: "1" },
      },
    });
    this.#child.stdin?.on("error", () => {});
    this.#child.on("exit", () => this.#died.abort(new HostDied("the process has ended")));
    const lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream });
    lines.on("line", (line) => {
      const end = JSON.parse(line) as End;
      this.#pending.get(end.id)?.(end);
      this.#pending.delete(end.id);
    });
    this.store = this.#remoteStore();
  }

  /** Aborted when the process has ended. */
  get died(): AbortSignal {
    return this.#died.signal;
  }

  /** Opens the store. */
  async open(place: string, options: StoreOptions): Promise<ModelStore> {
    await this.call(undefined, "open", place, options);
    return this.store;
  }

  /** Kills the process some milliseconds later. */
  dieAfter(milliseconds: number): void {
    setTimeout(() => this.kill(), milliseconds).unref();
  }

  /** Kills the process, if it still runs. */
  kill(): void {
    this.#child.kill("SIGKILL");
  }

  /** Kills the process, and waits until it has ended. */
  async ended(): Promise<void> {
    this.kill();
    if (this.died.aborted) return;
    await new Promise((resolve) => this.died.addEventListener("abort", resolve, { once: true }));
  }

  run<T>(action: () => Promise<T>): Promise<T> {
    return action();
  }

  /** Calls a method. Rejects with a {@link HostDied} if the process ends before. */
  async call(disk: number | undefined, call: string, ...args: readonly unknown[]): Promise<End> {
    this.died.throwIfAborted();
    this.#calls += 1;
    const id = this.#calls;
    const ending = new Promise<End>((resolve, reject) => {
      this.#pending.set(id, resolve);
      this.died.addEventListener("abort", () => reject(this.died.reason), { once: true });
    });
    this.#child.stdin?.write(`${JSON.stringify({ id, disk, call, args })}\n`);
    const end = await ending;
    if (end.error !== undefined) throw Object.assign(new Error(end.error.message), end.error);
    return end;
  }

  #remoteStore(): ModelStore {
    const call =
      (name: string) =>
      async (...args: readonly unknown[]) =>
        (await this.call(undefined, name, ...args)).value as never;
    const all = async function* <T>(call: () => Promise<readonly T[]>): AsyncGenerator<T> {
      yield* await call();
    };
    return {
      ...{ create: call("create"), fork: call("fork"), rollback: call("rollback") },
      ...{ expire: call("expire"), collect: call("collect"), remove: call("remove") },
      ...{ stat: call("stat"), recover: call("recover"), discard: call("discard") },
      close: call("close"),
      unsaved: () => all<UnsavedImage>(call("unsaved")),
      list: () => all<string>(call("list")),
      attach: async (name: string, options?: AttachOptions) => {
        this.#calls += 1;
        const id = this.#calls;
        const { state } = await this.call(undefined, "attach", id, name, options);
        return this.#remoteDisk(id, state as State);
      },
    };
  }

  #remoteDisk(id: number, first: State): ModelDisk {
    let state = first;
    const call = async (name: string, ...args: readonly unknown[]) => {
      const end = await this.call(id, name, ...args);
      state = end.state as State;
      return end.value as never;
    };
    const read = async (...args: readonly unknown[]) =>
      Buffer.from(await call("read", ...args), "base64");
    const write = (start: number, bytes: Uint8Array, volume?: string) =>
      call("write", start, Buffer.from(bytes).toString("base64"), volume);
    return {
      get generation() {
        return state.generation;
      },
      volumes: Object.keys(first.volumes),
      volume: (name) => ({
        read: (start, length) => read(start, length, name),
        write: (start, bytes) => write(start, bytes, name),
        size: first.volumes[name]?.size ?? 0,
        get changedBytes() {
          return state.volumes[name]?.changedBytes ?? 0;
        },
      }),
      get changedBytes() {
        return state.changedBytes;
      },
      get lost() {
        return { aborted: state.lost };
      },
      ...{ epoch: first.epoch, size: first.size, image: first.image },
      read: (start, length) => read(start, length),
      write: (start, bytes) => write(start, bytes),
      save: (options) => call("save", options),
      detach: (options) => call("detach", options),
    };
  }
}
