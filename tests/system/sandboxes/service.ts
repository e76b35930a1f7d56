/** Services that keep sandboxes, in processes of their own, as their callers see them. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type {
  CacheStats,
  CreateOptions,
  GetOptions,
  Pruned,
  RestoreOptions,
  SnapshotErrorCode,
  Verified,
} from "@hedgerow/snapshot";

type Told<T> = Omit<T, "signal" | "onProgress" | "cache">;

/** Which cache a service opens, if any. */
export interface Opening {
  readonly cache?: { readonly directory: string; readonly maxBytes: number };
}

/** What a service does. */
export interface Calls {
  lease(
    name: string,
    source: string,
    options: Told<GetOptions>,
  ): { readonly hit: boolean; readonly path: string };
  release(name: string): void;
  restore(
    source: string,
    target: string,
    options: Told<RestoreOptions> & { readonly isCached?: boolean },
  ): { readonly hit: boolean };
  create(
    image: string,
    destination: string,
    options: Told<CreateOptions>,
  ): { readonly digest: string; readonly fileSize: number };
  has(source: string, digest: string): boolean;
  remove(source: string, digest: string): boolean;
  verify(): Verified;
  prune(maxBytes: number): Pruned;
  stats(): CacheStats;
  memory(): { readonly heap: number; readonly isCollected: boolean };
  close(): void;
}

/** What a call is rejected with. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: SnapshotErrorCode | undefined;

  constructor({ message, code }: { message: string; code?: SnapshotErrorCode }) {
    super(message);
    this.code = code;
  }
}

/** A service's process is gone. */
export class ServiceGone extends Error {
  override readonly name = "ServiceGone";
}

interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { message: string; code?: SnapshotErrorCode };
}

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** How long a service may take to end, in milliseconds, before it is killed. */
const LONGEST_END = 60_000;

const SCRIPT = fileURLToPath(new URL("service.mjs", import.meta.url));

export class Service {
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  readonly #waiting = new Map<number, Waiting>();
  #calls = 0;

  private constructor(opening: Opening) {
    this.#child = fork(SCRIPT, [JSON.stringify(opening)], {
      execArgv: ["--expose-gc", "--unhandled-rejections=strict"],
      // Each of them would say what comes of Node 20.
      env: { ...process.env, AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" },
    });
    this.#exit = once(this.#child, "exit").then(([code, signal]) => {
      const gone = new ServiceGone(`expected a service that runs, found ${signal ?? code}`);
      for (const { reject } of this.#waiting.values()) reject(gone);
      this.#waiting.clear();
      return signal ?? code;
    });
    this.#child.on("message", (answer: Answer) => this.#take(answer));
  }

  /** Starts one. Its cache is open then. */
  static async start(opening: Opening = {}): Promise<Service> {
    const service = new Service(opening);
    // The first that it says is that it is ready.
    await new Promise((resolve, reject) => service.#waiting.set(0, { resolve, reject }));
    return service;
  }

  get pid(): number {
    return this.#child.pid!;
  }

  call<Name extends keyof Calls>(
    name: Name,
    ...args: Parameters<Calls[Name]>
  ): Promise<ReturnType<Calls[Name]>> {
    this.#calls += 1;
    const id = this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve: resolve as (value: unknown) => void, reject });
      // That it is gone is told by its exit.
      this.#child.send({ id, name, args }, () => {});
    });
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exit;
  }

  /** Has it end, as it must by itself, and well. */
  async end(): Promise<void> {
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), LONGEST_END);
    // It is gone before it could answer.
    await this.call("close").catch((error: unknown) => {
      if (!(error instanceof ServiceGone)) throw error;
    });
    const how = await this.#exit;
    clearTimeout(timer);
    if (how !== 0) throw new Error(`expected a service to end by itself, and well; found ${how}`);
  }

  #take({ id, value, error }: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) waiting?.resolve(value);
    else waiting?.reject(new ServiceError(error));
  }
}
