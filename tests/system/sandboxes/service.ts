/** The client of a sandbox service in a separate process. */
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

/** Options that a message can carry. */
type Serializable<T> = Omit<T, "signal" | "onProgress" | "cache">;

/** Options of a service. */
export interface ServiceOptions {
  readonly cache?: { readonly directory: string; readonly maxBytes: number };
}

/** The calls that a service accepts. */
export interface Calls {
  lease(
    name: string,
    source: string,
    options: Serializable<GetOptions>,
  ): { readonly hit: boolean; readonly path: string };
  release(name: string): void;
  restore(
    source: string,
    target: string,
    options: Serializable<RestoreOptions> & { readonly isCached?: boolean },
  ): { readonly hit: boolean };
  create(
    image: string,
    destination: string,
    options: Serializable<CreateOptions>,
  ): { readonly digest: string; readonly fileSize: number };
  has(source: string, digest: string): boolean;
  remove(source: string, digest: string): boolean;
  verify(): Verified;
  prune(maxBytes: number): Pruned;
  stats(): CacheStats;
  memory(): { readonly heap: number; readonly isCollected: boolean };
  close(): void;
}

/** The error of a call that the service rejected. */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly code: SnapshotErrorCode | undefined;

  constructor({ message, code }: { message: string; code?: SnapshotErrorCode }) {
    super(message);
    this.code = code;
  }
}

/** The error of a call to a service whose process has exited. */
export class ServiceExited extends Error {
  override readonly name = "ServiceExited";
}

interface Result {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { message: string; code?: SnapshotErrorCode };
}

interface PendingCall {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** Milliseconds that a service has to exit before it is killed. */
const EXIT_TIMEOUT = 60_000;

const SCRIPT = fileURLToPath(new URL("service.mjs", import.meta.url));

export class Service {
  readonly #child: ChildProcess;
  readonly #exit: Promise<unknown>;
  readonly #pending = new Map<number, PendingCall>();
  #calls = 0;

  private constructor(options: ServiceOptions) {
    this.#child = fork(SCRIPT, [JSON.stringify(options)], {
      execArgv: ["--expose-gc", "--unhandled-rejections=strict"],
      // Silences the warning about Node 20, which every service would print.
      env: { ...process.env, AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED: "true" },
    });
    this.#exit = once(this.#child, "exit").then(([code, signal]) => {
      const exited = new ServiceExited(`the service has exited: ${signal ?? code}`);
      for (const { reject } of this.#pending.values()) reject(exited);
      this.#pending.clear();
      return signal ?? code;
    });
    this.#child.on("message", (result: Result) => this.#settle(result));
  }

  /** Starts a service. Resolves when its cache is open. */
  static async start(options: ServiceOptions = {}): Promise<Service> {
    const service = new Service(options);
    // Its first message says that it is ready.
    await new Promise((resolve, reject) => service.#pending.set(0, { resolve, reject }));
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
      this.#pending.set(id, { resolve: resolve as (value: unknown) => void, reject });
      // The exit event rejects the call if the process is gone.
      this.#child.send({ id, name, args }, () => {});
    });
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#exit;
  }

  /** Closes the service. Throws unless its process exits by itself with code 0. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), EXIT_TIMEOUT);
    // The process may exit before it answers.
    await this.call("close").catch((error: unknown) => {
      if (!(error instanceof ServiceExited)) throw error;
    });
    const exit = await this.#exit;
    clearTimeout(timer);
    if (exit !== 0) throw new Error(`expected the service to exit with 0, found ${exit}`);
  }

  #settle({ id, value, error }: Result): void {
    const call = this.#pending.get(id);
    this.#pending.delete(id);
    if (error === undefined) call?.resolve(value);
    else call?.reject(new ServiceError(error));
  }
}
