/** The worker in workerd, on direct sockets, and the requests by which the platform controls it. */
import { Agent } from "node:http";
import { Miniflare } from "miniflare";

import { bundle, COMPATIBILITY_DATE } from "../../../scripts/lib/worker.mjs";
import { ask } from "../../support/http/client.js";
import { descendants } from "../processes.js";
import { RULES } from "./fields.js";
import { FILTER_TIMEOUT } from "./filter-faults.js";
import type { Deploy, WorkerState } from "./worker.js";

/** Room for the filters of two deployments, but not of three. */
const FILTERS = { maxBytes: 11_000, timeout: FILTER_TIMEOUT };

export const bundleWorker = () => bundle("tests/system/edge/worker.ts");

export class SiteWorker {
  readonly #miniflare: Miniflare;
  readonly #agent = new Agent({ keepAlive: false });
  readonly url: URL;
  /** The process of workerd. */
  readonly pid: number;

  private constructor(miniflare: Miniflare, url: URL, pid: number) {
    this.#miniflare = miniflare;
    this.url = url;
    this.pid = pid;
  }

  /** Starts the worker from modules that {@link bundleWorker} made. */
  static async start(
    modules: Awaited<ReturnType<typeof bundleWorker>>,
    origin: URL,
  ): Promise<SiteWorker> {
    const miniflare = new Miniflare({
      host: "127.0.0.1",
      port: 0,
      modules,
      modulesRoot: ".",
      bindings: { ORIGIN: origin.href, RULES, FILTERS },
      compatibilityDate: COMPATIBILITY_DATE,
      unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
      cf: false,
    });
    const url = await miniflare.unsafeGetDirectURL();
    const processes = descendants(process.pid).filter(({ name }) => name === "workerd");
    if (processes.length !== 1) throw new Error(`expected one workerd, found ${processes.length}`);
    return new SiteWorker(miniflare, url, processes[0]!.pid);
  }

  /** Registers the filter of a deployment. */
  async deploy(deploy: Deploy): Promise<void> {
    const body = JSON.stringify(deploy);
    const options = { method: "PUT", path: "/-/deploy", body, agent: this.#agent };
    const { status } = await ask(this.url, options);
    if (status !== 200)
      throw new Error(`the worker answered the registration of a filter with ${status}`);
  }

  async state(): Promise<WorkerState> {
    const { body } = await ask(this.url, { path: "/-/state", agent: this.#agent });
    return JSON.parse(`${body}`) as WorkerState;
  }

  close(): Promise<void> {
    return this.#miniflare.dispose();
  }
}
