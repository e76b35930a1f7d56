/** The edge half of the scenario: deployments follow each other, and requests of all kinds come meanwhile. */
import { mkdirSync } from "node:fs";

import { type Proxy as SpoilingProxy, startProxy } from "../../support/snapshots/proxy.js";
import type { Coverage } from "../coverage.js";
import { Choices, Deck } from "../random.js";
import type { Store } from "../store.js";
import { inTurns } from "../turns.js";
import { AbsentRate } from "./absent-rate.js";
import { EXCHANGE_KINDS, Exchanges } from "./exchanges.js";
import { FIELD_KINDS } from "./fields.js";
import { FILTER_FAULTS } from "./filter-faults.js";
import { buildFilter, expectAllIn, FALSE_POSITIVE_RATE, filterUrl } from "./filters.js";
import { SiteOrigin } from "./origin.js";
import { absentPath, presentPath } from "./paths.js";
import { type Deployment, Site } from "./site.js";
import { type bundleWorker, SiteWorker } from "./site-worker.js";

/** What must have happened at the edge. */
export const EDGE_KINDS = [
  ...Object.keys(FILTER_FAULTS),
  ...FIELD_KINDS,
  ...EXCHANGE_KINDS,
  ...["filter: replaced", "filter: loaded again", "deployment: an older one"],
];

/** How many deployments can be asked for, and requests are sent for each. */
const [KEPT, WHILE_FAULTY, AFTERWARDS] = [4, 8, 64];

export class Edge {
  readonly #seed: number;
  readonly #coverage: Coverage;
  readonly #store: Store;
  readonly #path: (...parts: string[]) => string;
  readonly #site: Site;
  readonly #faults: Deck<string>;
  readonly #origin = new SiteOrigin();
  readonly #deployments: Deployment[] = [];
  /** The fault of the moment. */
  #fault: string | undefined;
  #filtersAsked = 0;
  /** Is to know when a filter is asked for. */
  #onFilterAsked = () => {};
  /** What became of absent paths. */
  readonly absent = new AbsentRate(FALSE_POSITIVE_RATE);
  #proxy!: SpoilingProxy;
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
      this.#filtersAsked += 1;
      this.#onFilterAsked();
      return this.#fault === undefined ? undefined : FILTER_FAULTS[this.#fault]!.spoilt;
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

  /** Has a deployment follow, whose filter cannot be had as it should at first. */
  async round(number: number): Promise<void> {
    const choices = new Choices(this.#seed, number);
    const deployment = this.#site.deploy();
    this.#deployments.push(deployment);
    if (this.#deployments.length > KEPT) this.#deployments.shift();
    await this.#publish(deployment);
    await this.#whileFaulty(deployment, choices);
    await this.#untilChecked(deployment, choices);
    await this.#ask(choices);
    if (number % 2 === 1) await this.#replace(choices);
    if (this.#origin.strangers.length > 0) {
      throw new Error(`expected no other requests, found ${this.#origin.strangers}`);
    }
  }

  /** Builds a filter, puts it into the store, and tells the worker. */
  async #publish(deployment: Deployment): Promise<void> {
    const { name } = deployment;
    const key = `filters/${name}`;
    const file = await buildFilter(this.#site.folder, this.#path(`${name}.filter`), name);
    expectAllIn(file, deployment);
    await this.#store.put(key, file);
    const filter = await filterUrl(this.#store.server, key, this.#proxy.endpoint);
    await this.#worker.deploy({ name, filter });
  }

  /** While a filter cannot be had, everything passes. */
  async #whileFaulty(deployment: Deployment, choices: Choices): Promise<void> {
    this.#fault = this.#faults.next();
    const { why } = FILTER_FAULTS[this.#fault]!;
    try {
      if (this.#fault === "filter: silent") await this.#leaveEarly(deployment, choices);
      const before = (await this.#worker.state()).unchecked;
      const sent = Array.from({ length: 2 * WHILE_FAULTY }, async (_, index) => {
        const own = choices.branch(index);
        const isPresent = index < WHILE_FAULTY;
        const asked = (isPresent ? presentPath : absentPath)(deployment, own);
        const outcome = await this.#exchanges.exchange(deployment, asked, own);
        if (outcome === "refused" && (isPresent || why !== undefined)) {
          throw new Error(`${this.#fault}: expected ${asked.sent} to pass, found it refused`);
        }
      });
      await Promise.all(sent);
      const after = (await this.#worker.state()).unchecked;
      if (why !== undefined && (after[why] ?? 0) <= (before[why] ?? 0)) {
        throw new Error(`${this.#fault}: expected ${why}, found ${JSON.stringify(after)}`);
      }
      this.#coverage.count(this.#fault);
    } finally {
      this.#fault = undefined;
    }
  }

  /** Who has the filter be loaded is gone before it comes. */
  async #leaveEarly(deployment: Deployment, choices: Choices): Promise<void> {
    const isTime = new Promise<void>((resolve) => {
      this.#onFilterAsked = resolve;
    });
    await this.#exchanges.leave(deployment, presentPath(deployment, choices), isTime);
  }

  /** When nothing is wrong any more, the next one who asks has the filter be loaded. */
  async #untilChecked(deployment: Deployment, choices: Choices): Promise<void> {
    for (let attempt = 0; attempt < 10; attempt += 1) {
      const asked = absentPath(deployment, choices);
      const outcome = await this.#exchanges.exchange(deployment, asked, choices);
      if (outcome === "refused") return;
    }
    throw new Error(`expected ${deployment.name} to be checked again, found that all passes`);
  }

  /** Present paths pass, whatever the deployment, and absent ones nearly never. */
  async #ask(choices: Choices): Promise<void> {
    const uncheckedBefore = await this.#uncheckedCount();
    const askedBefore = this.#filtersAsked;
    const newest = this.#deployments.at(-1)!;
    await inTurns(AFTERWARDS, async (index) => {
      const own = choices.branch(index);
      const deployment = own.chance(0.3) ? own.pick(this.#deployments) : newest;
      if (deployment !== newest) this.#coverage.count("deployment: an older one");
      const absent = absentPath(deployment, own);
      await this.#expectAny(deployment, own);
      const outcome = await this.#exchanges.exchange(deployment, absent, own);
      this.absent.count(outcome);
      await this.#exchanges.post(deployment, absent, own);
    });
    this.absent.countUnchecked((await this.#uncheckedCount()) - uncheckedBefore);
    if (this.#filtersAsked > askedBefore) this.#coverage.count("filter: loaded again");
  }

  /** Some path that a deployment has passes. */
  async #expectAny(deployment: Deployment, choices: Choices): Promise<void> {
    const asked = presentPath(deployment, choices);
    const outcome = await this.#exchanges.exchange(deployment, asked, choices);
    if (outcome !== "refused") return;
    throw new Error(`${deployment.name} has ${asked.path}, and ${asked.sent} was refused`);
  }

  async #uncheckedCount(): Promise<number> {
    const { unchecked } = await this.#worker.state();
    return Object.values(unchecked).reduce((sum, count) => sum + count, 0);
  }

  /** The newest deployment gets other files and another filter, amid requests for what both have. */
  async #replace(choices: Choices): Promise<void> {
    const old = this.#deployments.pop()!;
    const deployment = { ...this.#site.deploy(), name: old.name };
    this.#deployments.push(deployment);
    const both = { ...old, present: old.present.filter((path) => deployment.has(path)) };
    const asking = inTurns(AFTERWARDS / 2, (index) =>
      this.#expectAny(both, choices.branch(-index)),
    );
    await Promise.all([asking, this.#publish(deployment)]);
    const added = { ...deployment, present: deployment.present.filter((path) => !old.has(path)) };
    await inTurns(AFTERWARDS / 4, (index) => this.#expectAny(added, choices.branch(index)));
    await this.#untilChecked(deployment, choices);
    this.#coverage.count("filter: replaced");
  }
}
