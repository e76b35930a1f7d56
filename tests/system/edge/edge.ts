/** The edge of the scenario: successive deployments of a site, under requests of all kinds. */
import { mkdirSync } from "node:fs";
import type { Store } from "../../support/s3/store.js";
import { type Proxy as FaultProxy, startProxy } from "../../support/snapshots/proxy.js";
import { trials } from "../../support/trials.js";
import { runConcurrently } from "../concurrency.js";
import type { Coverage } from "../coverage.js";
import { Choices, Deck } from "../random.js";
import { AbsentRate } from "./absent-rate.js";
import { EXCHANGE_KINDS, Exchanges } from "./exchanges.js";
import { FIELD_KINDS } from "./fields.js";
import { FILTER_FAULTS } from "./filter-faults.js";
import { buildFilter, expectAllIn, FALSE_POSITIVE_RATE, filterUrl } from "./filters.js";
import { SiteOrigin } from "./origin.js";
import { absentPath, presentPath } from "./paths.js";
import { type Deployment, Site } from "./site.js";
import { type bundleWorker, SiteWorker } from "./site-worker.js";

/** The kinds of events that have to occur at the edge. */
export const EDGE_KINDS = [
  ...Object.keys(FILTER_FAULTS),
  ...FIELD_KINDS,
  ...EXCHANGE_KINDS,
  ...["filter: replaced", "filter: loaded again", "deployment: an older one"],
];

/** Deployments that are served at a time. */
const MAX_DEPLOYMENTS = 4;

/** Requests for each deployment, during a fault and after it. */
const [REQUESTS_DURING_FAULT, REQUESTS_AFTERWARDS] = [8, trials({ few: 24, all: 64 })];

export class Edge {
  readonly #seed: number;
  readonly #coverage: Coverage;
  readonly #store: Store;
  readonly #path: (...parts: string[]) => string;
  readonly #site: Site;
  readonly #faults: Deck<string>;
  readonly #origin = new SiteOrigin();
  readonly #deployments: Deployment[] = [];
  /** The current fault of filter requests. */
  #fault: string | undefined;
  #filterRequests = 0;
  /** Called when the worker requests a filter. */
  #onFilterRequest = () => {};
  /** The outcomes of requests for absent paths. */
  readonly absent = new AbsentRate(FALSE_POSITIVE_RATE);
  #proxy!: FaultProxy;
  #worker!: SiteWorker;
  #exchanges!: Exchanges;

  constructor(
    seed: number,
    coverage: Coverage,
    store: Store,
    path: (...parts: string[]) => string,
  ) {
    this.#seed = seed;
    this.#coverage = coverage;
    this.#store = store;
    this.#path = path;
    this.#site = new Site(path("site"), seed);
    this.#faults = new Deck(Object.keys(FILTER_FAULTS), new Choices(seed, -1));
  }

  async start(modules: Awaited<ReturnType<typeof bundleWorker>>): Promise<void> {
    mkdirSync(this.#path("site"), { recursive: true });
    this.#proxy = await startProxy(this.#store.server.endpoint, () => {
      this.#filterRequests += 1;
      this.#onFilterRequest();
      return this.#fault === undefined ? undefined : FILTER_FAULTS[this.#fault]!.injected;
    });
    this.#worker = await SiteWorker.start(modules, await this.#origin.listen());
    this.#exchanges = new Exchanges(this.#worker.url, this.#origin, this.#coverage);
  }

  get worker(): SiteWorker {
    return this.#worker;
  }

  async close(): Promise<void> {
    this.#exchanges?.close();
    await this.#worker?.close();
    await this.#origin.close();
    await this.#proxy?.[Symbol.asyncDispose]();
  }

  /** Deploys the next version of the site. At first, loading its filter is faulty. */
  async round(number: number): Promise<void> {
    const choices = new Choices(this.#seed, number);
    const deployment = this.#site.deploy();
    this.#deployments.push(deployment);
    if (this.#deployments.length > MAX_DEPLOYMENTS) this.#deployments.shift();
    await this.#publish(deployment);
    await this.#requestDuringFault(deployment, choices);
    await this.#waitUntilChecked(deployment, choices);
    await this.#request(choices);
    if (number % 2 === 1) await this.#replace(choices);
    if (this.#origin.unexpected.length > 0) {
      throw new Error(`the origin received unexpected requests: ${this.#origin.unexpected}`);
    }
  }

  /** Builds a filter, uploads it, and registers it with the worker. */
  async #publish(deployment: Deployment): Promise<void> {
    const { name } = deployment;
    const key = `filters/${name}`;
    const file = await buildFilter(this.#site.folder, this.#path(`${name}.filter`));
    expectAllIn(file, deployment);
    await this.#store.put(key, file);
    const filter = await filterUrl(this.#store.server, key, this.#proxy.endpoint);
    await this.#worker.deploy({ name, filter });
  }

  /** Sends requests during a fault: all of them pass unless the filter loads nevertheless. */
  async #requestDuringFault(deployment: Deployment, choices: Choices): Promise<void> {
    this.#fault = this.#faults.next();
    const { code } = FILTER_FAULTS[this.#fault]!;
    try {
      if (this.#fault === "filter: silent") await this.#disconnectEarly(deployment, choices);
      const before = (await this.#worker.state()).unchecked;
      const sent = Array.from({ length: 2 * REQUESTS_DURING_FAULT }, async (_, index) => {
        const branch = choices.branch(index);
        const isPresent = index < REQUESTS_DURING_FAULT;
        const requested = (isPresent ? presentPath : absentPath)(deployment, branch);
        const outcome = await this.#exchanges.exchange(deployment, requested, branch);
        if (outcome === "rejected" && (isPresent || code !== undefined)) {
          throw new Error(`${this.#fault}: ${requested.sent} was rejected`);
        }
      });
      await Promise.all(sent);
      const after = (await this.#worker.state()).unchecked;
      if (code !== undefined && (after[code] ?? 0) <= (before[code] ?? 0)) {
        throw new Error(`${this.#fault}: expected ${code}, found ${JSON.stringify(after)}`);
      }
      this.#coverage.count(this.#fault);
    } finally {
      this.#fault = undefined;
    }
  }

  /** Disconnects the client whose request loads the filter, before the filter arrives. */
  async #disconnectEarly(deployment: Deployment, choices: Choices): Promise<void> {
    const filterRequested = new Promise<void>((resolve) => {
      this.#onFilterRequest = resolve;
    });
    await this.#exchanges.disconnect(deployment, presentPath(deployment, choices), filterRequested);
  }

  /** Sends requests until one is rejected: after a fault, the next request loads the filter again. */
  async #waitUntilChecked(deployment: Deployment, choices: Choices): Promise<void> {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const requested = absentPath(deployment, choices);
      const outcome = await this.#exchanges.exchange(deployment, requested, choices);
      if (outcome === "rejected") return;
    }
    throw new Error(`requests for ${deployment.name} still pass without being checked`);
  }

  /**
   * Requests present paths, all of which must pass, and absent ones, all but false positives of which must be rejected.
   */
  async #request(choices: Choices): Promise<void> {
    const uncheckedBefore = await this.#uncheckedCount();
    const filterRequestsBefore = this.#filterRequests;
    const newest = this.#deployments.at(-1)!;
    await runConcurrently(REQUESTS_AFTERWARDS, async (index) => {
      const branch = choices.branch(index);
      const deployment = branch.chance(0.3) ? branch.pick(this.#deployments) : newest;
      if (deployment !== newest) this.#coverage.count("deployment: an older one");
      const absent = absentPath(deployment, branch);
      await this.#expectPresent(deployment, branch);
      const outcome = await this.#exchanges.exchange(deployment, absent, branch);
      this.absent.count(outcome);
      await this.#exchanges.post(deployment, absent, branch);
    });
    this.absent.countUnchecked((await this.#uncheckedCount()) - uncheckedBefore);
    if (this.#filterRequests > filterRequestsBefore) this.#coverage.count("filter: loaded again");
  }

  /** Requests a present path of a deployment, and throws if it is rejected. */
  async #expectPresent(deployment: Deployment, choices: Choices): Promise<void> {
    const requested = presentPath(deployment, choices);
    const outcome = await this.#exchanges.exchange(deployment, requested, choices);
    if (outcome !== "rejected") return;
    throw new Error(
      `${requested.sent} was rejected, although ${deployment.name} has ${requested.path}`,
    );
  }

  async #uncheckedCount(): Promise<number> {
    const { unchecked } = await this.#worker.state();
    return Object.values(unchecked).reduce((sum, count) => sum + count, 0);
  }

  /** Replaces the files and the filter of the newest deployment, during requests for paths that stay. */
  async #replace(choices: Choices): Promise<void> {
    const old = this.#deployments.pop()!;
    const deployment = { ...this.#site.deploy(), name: old.name };
    this.#deployments.push(deployment);
    const both = { ...old, present: old.present.filter((path) => deployment.has(path)) };
    const requests = runConcurrently(REQUESTS_AFTERWARDS / 2, (index) =>
      this.#expectPresent(both, choices.branch(-index)),
    );
    await Promise.all([requests, this.#publish(deployment)]);
    const added = { ...deployment, present: deployment.present.filter((path) => !old.has(path)) };
    await runConcurrently(REQUESTS_AFTERWARDS / 4, (index) =>
      this.#expectPresent(added, choices.branch(index)),
    );
    await this.#waitUntilChecked(deployment, choices);
    this.#coverage.count("filter: replaced");
  }
}
