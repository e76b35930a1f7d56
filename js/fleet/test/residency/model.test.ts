/** Random fleets, faults and all: once they are quiet, the picture equals the truth. */
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished, test } from "vitest";

import { seededRandom } from "../../../../tests/origin/random.mjs";
import { trials } from "../../../../tests/support/trials.js";
import { digestOf } from "../../../snapshot/test/support/stored-images.js";
import type { FleetEngine } from "../../src/residency/engine.js";
import { redisEngine } from "../../src/residency/redis-engine.js";
import { type ResidencyReport, reportResidency } from "../../src/residency/report.js";
import { untilShown, watching } from "../support/pictures.js";
import { connectTo, Redis, until } from "../support/redis.js";
import { StubCache } from "../support/stub-cache.js";

const SEEDS = Array.from({ length: trials({ few: 3, all: 30 }) }, (_, at) => at + 1);

const STEPS = trials({ few: 80, all: 200 });

const DIGESTS = Array.from({ length: 40 }, (_, at) => digestOf(at));

/** A host that may die without a word. */
class Host {
  readonly cache = new StubCache();
  #isAlive = false;
  #report: ResidencyReport | undefined;

  constructor(
    readonly id: string,
    private readonly engine: FleetEngine,
  ) {}

  get isAlive(): boolean {
    return this.#isAlive;
  }

  async start(): Promise<void> {
    const life = { isAlive: true };
    this.#die = () => {
      life.isAlive = false;
    };
    const client = new Proxy(this.engine, {
      get: (engine, name) => {
        if (life.isAlive) return Reflect.get(engine, name);
        return () => Promise.reject(new Error("the host is dead"));
      },
    });
    this.#isAlive = true;
    const options = { client, host: this.id, ttl: 900, interval: 5, listInterval: 200 };
    this.#report = await reportResidency(this.cache.asCache, options);
  }

  /** Ends the report, with or without notice. */
  async stop(isKilled: boolean): Promise<void> {
    this.#isAlive = false;
    if (isKilled) this.#die();
    await this.#report?.close();
  }

  #die = () => {};
}

/** Returns an engine whose subscriptions lose a share of the messages. */
function losing(engine: FleetEngine, random: () => number): FleetEngine {
  return {
    ...engine,
    subscribe: (onMessage, onEnd) =>
      engine.subscribe((text) => random() < 0.1 || onMessage(text), onEnd),
  };
}

test.each(SEEDS)("shows the truth once a random fleet is quiet, with the seed %i", async (seed) => {
  const random = seededRandom(seed);
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)]!;
  const redis = await Redis.start();
  onTestFinished(() => redis.close());
  const client = await connectTo(redis.url);
  const engine = redisEngine(client, { timeout: 500 });
  const hosts = ["a", "b", "c", "d"].map((id) => new Host(id, engine));
  onTestFinished(async () => {
    for (const host of hosts) await host.stop(true);
  });
  const residency = await watching({ client: losing(engine, random) });
  const history: string[] = [];
  for (let step = 0; step < STEPS; step += 1) {
    const host = pick(hosts);
    const digest = pick(DIGESTS);
    const action = random();
    history.push(`${host.id} ${action.toFixed(3)}`);
    if (action < 0.4) host.cache.fill(DIGESTS.indexOf(digest));
    else if (action < 0.6) host.cache.evict(digest);
    else if (action < 0.65) host.cache.digests.delete(digest);
    else if (action < 0.75 && !host.isAlive) await host.start();
    else if (action < 0.78 && host.isAlive) await host.stop(random() < 0.7);
    else if (action < 0.8) await client.flushAll();
    else if (action < 0.82) await client.sendCommand(["CLIENT", "KILL", "TYPE", "pubsub"]);
    else if (action < 0.84) await client.set(`{hedgerow}:state:${host.id}`, "garbage");
    else if (action < 0.86)
      await client.sAdd(`{hedgerow}:images:${host.id}`, digest).catch(() => {});
    else if (action < 0.88) await client.del(`{hedgerow}:hosts`);
    else if (action < 0.9) await client.publish("{hedgerow}:changes", `{"kind":"full","host":"x"}`);
    else if (action < 0.91) {
      await redis.stop();
      await redis.restart();
    } else await sleep(random() * 30);
  }
  const truth = Object.fromEntries(
    hosts.filter(({ isAlive }) => isAlive).map(({ id, cache }) => [id, cache.digests]),
  );
  try {
    // Until then it may equal the truth by chance.
    await until("that the picture is current", () => residency.isCurrent);
    await untilShown(residency, truth, DIGESTS);
  } catch (error) {
    throw new Error(`seed ${seed}: ${error}\n${history.join("\n")}`);
  }
});
