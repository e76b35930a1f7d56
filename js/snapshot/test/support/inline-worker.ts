/**
 * Workers that run on this thread, for tests that create thousands of small snapshots: starting a thread takes longer than
 * its work. Only scripts that never block can run like this.
 */
import { EventEmitter } from "node:events";
import { createRequire } from "node:module";
import type { WorkerOptions } from "node:worker_threads";

type Script = (imports: (name: string) => unknown) => void;

const require = createRequire(import.meta.url);

/** Matches an import of members or of a module, and the exports at the end of a script. */
const IMPORT = /import\s*(\{[^}]*\}|\w+)\s*from\s*("[^"]*");/g;
const EXPORTS = /export\s*\{[^}]*\};?/g;

const scripts = new Map<string, Script>();

/** Returns whether a script never blocks its thread. */
export function canRunInline(url: string | URL): boolean {
  return (
    decodeURIComponent(String(url)).includes("parentPort") &&
    !/Atomics\.wait|setPriority/.test(String(url))
  );
}

function scriptOf(url: string | URL): Script {
  const key = String(url);
  const known = scripts.get(key);
  if (known !== undefined) return known;
  const text = decodeURIComponent(key.slice(key.indexOf(",") + 1))
    .replace(IMPORT, (_, names: string, from: string) => {
      return `const ${names.replaceAll(" as ", ":")}=imports(${from});`;
    })
    .replace(EXPORTS, "");
  const script = new Function("imports", text) as Script;
  scripts.set(key, script);
  return script;
}

/** Looks like a `Worker` to its pool. */
export class InlineWorker extends EventEmitter {
  readonly #port = new EventEmitter();
  #isEnded = false;

  constructor(url: string | URL, { workerData }: WorkerOptions = {}) {
    super();
    const parentPort = Object.assign(this.#port, {
      postMessage: (message: unknown) => this.#later(() => this.emit("message", message)),
    });
    const imports = (name: string) =>
      name === "node:worker_threads" ? { workerData, parentPort } : require(name);
    this.#later(() => {
      try {
        scriptOf(url)(imports);
      } catch (error) {
        this.emit("error", error);
        void this.terminate();
      }
    });
  }

  postMessage(task: unknown): void {
    this.#later(() => this.#port.emit("message", task));
  }

  async terminate(): Promise<number> {
    if (!this.#isEnded) setImmediate(() => this.emit("exit", 1));
    this.#isEnded = true;
    return 1;
  }

  #later(action: () => void): void {
    setImmediate(() => {
      if (!this.#isEnded) action();
    });
  }
}
