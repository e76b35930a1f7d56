/** The sandboxes of the scenario: disks start as copies of base images, and are written to, persisted and resumed. */
import { mkdirSync, rmSync } from "node:fs";
import type { Store } from "../../support/s3/store.js";
import { type Proxy as FaultProxy, startProxy } from "../../support/snapshots/proxy.js";
import type { Coverage } from "../coverage.js";
import { FaultPlan, READING, WRITING } from "../faults.js";
import { Choices, Deck } from "../random.js";
import { AcknowledgedSnapshots, expectImageOf, type Snapshot } from "./acknowledged.js";
import { expectAllRestorable, expectCacheWhole, expectTidy } from "./audit.js";
import { makeBase, sumOf, WRITES, writeTo } from "./images.js";
import { KILLS, type KillKind } from "./kills.js";
import { REFUSALS, refuseAll } from "./refusals.js";
import { Service } from "./service.js";

const MIB = 2 ** 20;
const BASES = 2;
/** Room for about three of the images, which causes evictions in every round. */
const CACHE_BYTES = 40 * MIB;
/** Snapshots of sandboxes that are kept. */
const MAX_SNAPSHOTS = 4;
/** Faults in each round. */
const [READING_FAULTS, WRITING_FAULTS] = [3, 2];

/** Transfer options, with short timeouts to make faults cost little time. */
const TRANSFER = {
  workers: 2,
  connections: 4,
  timeouts: { connect: 3000, firstByte: 800, stall: 800 },
  retries: 12,
};

/** The kinds of events that have to occur in sandboxes. */
export const SANDBOX_KINDS = [
  ...Object.keys(READING),
  ...Object.keys(WRITING),
  ...Object.keys(KILLS),
  ...REFUSALS,
  ...WRITES,
  ...["cache: filled", "cache: hit", "cache: hit in another process", "cache: evicted"],
  ...["sandbox: created", "sandbox: resumed"],
];

/** The snapshot of a sandbox. */
interface Persisted extends Snapshot {
  /** Whether the disk still has a valid file system. */
  readonly isFileSystem: boolean;
}

export class Sandboxes {
  readonly #seed: number;
  readonly coverage: Coverage;
  readonly store: Store;
  readonly path: (...parts: string[]) => string;
  readonly acknowledged = new AcknowledgedSnapshots();
  readonly #plan: FaultPlan;
  readonly #reading: Deck<string>;
  readonly #writing: Deck<string>;
  readonly #kills: Deck<KillKind>;
  readonly #writes: Deck<(typeof WRITES)[number]>;
  readonly #bases: Snapshot[] = [];
  /** The persisted sandboxes, oldest first. */
  readonly #persisted: Persisted[] = [];
  #proxy!: FaultProxy;
  #service!: Service;

  constructor(
    seed: number,
    coverage: Coverage,
    store: Store,
    path: (...parts: string[]) => string,
  ) {
    const deck = <T>(items: readonly T[], stream: number) =>
      new Deck(items, new Choices(seed, stream));
    this.#seed = seed;
    this.coverage = coverage;
    this.store = store;
    this.path = path;
    this.#plan = new FaultPlan(coverage, new Choices(seed, -11));
    this.#reading = deck(Object.keys(READING), -12);
    this.#writing = deck(Object.keys(WRITING), -13);
    this.#kills = deck(Object.keys(KILLS) as KillKind[], -14);
    this.#writes = deck(WRITES, -15);
  }

  async start(): Promise<void> {
    this.#proxy = await startProxy(this.store.server.endpoint, this.#plan.inject);
    this.#service = await this.startService();
    mkdirSync(this.path("images"));
    for (let number = 0; number < BASES; number += 1) {
      const image = this.path("images", `base-${number}`);
      makeBase(image, number);
      this.#bases.push(await this.persist(image, `bases/${number}.vhs`));
      rmSync(image);
    }
  }

  async close(): Promise<void> {
    await this.#service?.close();
    await this.#proxy?.[Symbol.asyncDispose]();
  }

  /** Returns the service that runs as long as the scenario. */
  get service(): Service {
    return this.#service;
  }

  get directory(): string {
    return this.path("cache");
  }

  /** Starts another service, which shares the cache. */
  startService(): Promise<Service> {
    return Service.start({ cache: { directory: this.directory, maxBytes: CACHE_BYTES } });
  }

  urlOf({ key }: Pick<Snapshot, "key">): string {
    return `s3://${this.store.server.bucket}/${key}`;
  }

  /** Returns the options for transfers through an endpoint in front of the store. */
  transfer(endpoint: URL = this.#proxy.endpoint) {
    const { region, credentials } = this.store.server;
    return { ...TRANSFER, s3: { endpoint: endpoint.href, region, credentials } };
  }

  /** Runs a round: creates and resumes sandboxes, with faults in the store and killed processes. */
  async round(number: number): Promise<void> {
    const choices = new Choices(this.#seed, 1000 + number);
    this.#plan.plan(this.#reading.take(READING_FAULTS), this.#writing.take(WRITING_FAULTS));
    const base = choices.pick(this.#bases);
    const image = this.path("images", `sandbox-${number}`);
    await this.#restoreConcurrently(base, image, choices);
    await Promise.all([
      this.#write(image, `sandboxes/${number}-created.vhs`, true, choices.branch(1)),
      this.#resume(number, choices.branch(2)),
    ]);
    const kind = this.#kills.next();
    await KILLS[kind](this, choices.pick(this.acknowledged.all()), choices);
    this.coverage.count(kind);
    await refuseAll(this, choices.pick(this.acknowledged.all()), number);
    await this.#forgetOldest();
    await expectCacheWhole(this);
    await expectTidy(this, CACHE_BYTES);
  }

  /** Checks that the store has exactly the acknowledged snapshots. Call it at the end. */
  async finish(): Promise<void> {
    const { evictions } = (await this.#service.call("stats")).totals;
    this.coverage.count("cache: evicted", evictions);
    await expectAllRestorable(this);
  }

  /** Creates a snapshot of an image, and records it once it is acknowledged. */
  async persist(image: string, key: string): Promise<Snapshot> {
    const sum = await sumOf(image);
    const options = { ...this.transfer(), level: 1, partSize: 5 * MIB };
    const { digest } = await this.#service.call("create", image, this.urlOf({ key }), options);
    const snapshot = { key, digest, sum };
    this.acknowledged.add(snapshot);
    return snapshot;
  }

  /** Restores a snapshot through the cache of a service, and checks the image. Returns whether it was a hit. */
  async restoreCached(service: Service, snapshot: Snapshot, image: string): Promise<boolean> {
    const { digest } = snapshot;
    const options = { ...this.transfer(), partSize: MIB, digest, isCached: true };
    const { hit } = await service.call("restore", this.urlOf(snapshot), image, options);
    await expectImageOf(image, snapshot);
    return hit;
  }

  /** Restores images in two processes concurrently. An image in use has to be a hit in both. */
  async #restoreConcurrently(base: Snapshot, image: string, choices: Choices): Promise<void> {
    const service = this.#service;
    const other = await this.startService();
    if (choices.chance(0.5)) await service.call("remove", this.urlOf(base), base.digest);
    const wasCached = await service.call("has", this.urlOf(base), base.digest);
    const any = choices.pick(this.acknowledged.all());
    const targets = ["one", "two", "three"].map((name) => `${image}-${name}`);
    const [hit, otherHit] = await Promise.all([
      this.restoreCached(service, base, targets[0]!),
      this.restoreCached(other, base, targets[1]!),
      this.restoreCached(other, any, targets[2]!),
    ]);
    if (!wasCached) {
      if (hit && otherHit) throw new Error(`expected a miss for ${base.key}, found two hits`);
      this.coverage.count("cache: filled");
    }
    const options = { ...this.transfer(), digest: base.digest };
    await service.call("lease", "base", this.urlOf(base), options);
    if (!(await this.restoreCached(service, base, image)))
      throw new Error("expected a hit, found a miss");
    this.coverage.count("cache: hit");
    if (!(await this.restoreCached(other, base, targets[1]!)))
      throw new Error("expected a hit in another process, found a miss");
    this.coverage.count("cache: hit in another process");
    await service.call("release", "base");
    await other.close();
    for (const target of targets) rmSync(target);
    this.coverage.count("sandbox: created");
  }

  /** Resumes a persisted sandbox, writes to it, and persists it again. */
  async #resume(number: number, choices: Choices): Promise<void> {
    if (this.#persisted.length === 0) return;
    const snapshot = choices.pick(this.#persisted);
    const image = this.path("images", `resumed-${number}`);
    const options = { ...this.transfer(), partSize: MIB, digest: snapshot.digest, resume: true };
    await this.#service.call("restore", this.urlOf(snapshot), image, options);
    await expectImageOf(image, snapshot);
    this.coverage.count("sandbox: resumed");
    const { isFileSystem } = snapshot;
    await this.#write(image, `sandboxes/${number}-resumed.vhs`, isFileSystem, choices);
  }

  /** Writes to the disk of a sandbox, persists it, and removes the disk. */
  async #write(image: string, key: string, isFileSystem: boolean, choices: Choices): Promise<void> {
    const kind = isFileSystem ? this.#writes.next() : "disk: bytes";
    writeTo(image, kind, choices);
    this.coverage.count(kind);
    const snapshot = await this.persist(image, key);
    this.#persisted.push({ ...snapshot, isFileSystem: kind === "disk: files" });
    rmSync(image);
  }

  async #forgetOldest(): Promise<void> {
    while (this.#persisted.length > MAX_SNAPSHOTS) {
      const oldest = this.#persisted.shift()!;
      this.acknowledged.remove(oldest);
      await this.store.remove(oldest.key);
    }
  }
}
