/** Random calls of hosts that share a store of disks, and what must be true of it at any time. */
import { existsSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type AttachOptions,
  DiskStore,
  type Generation,
  openSnapshot,
  restoreSnapshot,
  type SnapshotError,
  type StoreOptions,
} from "@hedgerow/snapshot";

import { noise } from "../../../../tests/support/snapshots/image.js";
import type { Random } from "../../../edge/test/support/random.js";
import { digestsOf, JoinedDisk, joined, type ModelDisk, TWIN } from "./joined-disk.js";
import { HostDied } from "./simulated-host.js";
import { hashOf, StoreFacts } from "./store-facts.js";

/** The names of disks, which hosts compete for. */
const NAMES = ["a", "b", "c"];

const CALLS = [
  ...(["write", "save", "detach", "attach", "create", "fork", "rollBack", "expire"] as const),
  ...(["collect", "setBack", "sweep", "remove", "salvage", "look", "kill"] as const),
] as const;

type Call = (typeof CALLS)[number];

/** How often hosts make each call. */
interface Mix {
  readonly names: number;
  /** One of so many attachments steals the disk. */
  readonly steals: number;
  readonly calls: Partial<Record<Call, number>>;
}

const MIXES: readonly Mix[] = [
  {
    ...{ names: 3, steals: 5 },
    calls: {
      ...{ write: 8, save: 8, detach: 4, attach: 12, create: 3, fork: 3, rollBack: 2, expire: 2 },
      ...{ collect: 2, setBack: 2, remove: 1, salvage: 2, look: 2, kill: 1 },
    },
  },
  // Snapshots are collected while they are stored again.
  {
    ...{ names: 2, steals: 5 },
    calls: {
      ...{ write: 4, save: 5, detach: 5, attach: 7, create: 7, fork: 5, rollBack: 4, expire: 8 },
      ...{ collect: 3, setBack: 3, sweep: 10, remove: 5, salvage: 1, kill: 1 },
    },
  },
  // Hosts take a disk from each other.
  {
    ...{ names: 1, steals: 2 },
    calls: {
      ...{ write: 8, save: 10, detach: 3, attach: 14, create: 1, rollBack: 1, expire: 1 },
      ...{ remove: 1, salvage: 2, kill: 1 },
    },
  },
];

const PIECE = 4_096;

/** How far times are set back, in milliseconds, and a grace period that is over then. */
const [AGE, GRACE] = [7_200_000, "1h"] as const;

/** The errors of a store or a network that has faults. */
const FAULTS = [
  "ERR_STORE",
  "ERR_TARGET",
  "ERR_SOURCE",
  "ERR_SOURCE_CHANGED",
  "ERR_SNAPSHOT_FORMAT",
];

/** Matches the error for a snapshot whose deletion another host has begun and not ended. */
const CLAIMED = /is being deleted; try again in/;

/** Matches the error for an image that nothing can complete. */
const INCOMPLETE = /not complete, and the store no longer has the snapshot/;

/** A snapshot to create disks from. */
export interface Sample {
  readonly path: string;
  readonly digest: string;
  readonly content: Buffer;
}

/** Where a host runs. */
export interface ModelRunner {
  /** Lets the host die some operations or milliseconds later. */
  dieAfter(steps: number): void;
  kill(): void;
  /** Runs an action on the host. Rejects with a {@link HostDied} if the host dies before. */
  run<T>(action: () => Promise<T>): Promise<T>;
}

/** A store of a host. */
export type ModelStore = Pick<
  DiskStore,
  | ("create" | "fork" | "rollback" | "expire" | "collect" | "remove" | "stat" | "list")
  | ("recover" | "discard" | "unsaved" | "close")
> & { attach(name: string, options?: AttachOptions): Promise<ModelDisk> };

/** Sets the times of the files in a folder back, so that they are `age` milliseconds old. */
export function setBackFiles(
  folder: string,
  age: number,
  which: (path: string) => boolean = () => true,
): void {
  const time = Math.max(0, (Date.now() - age) / 1_000);
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    try {
      const path = join(folder, name);
      if (which(path)) utimesSync(path, time, time);
    } catch {
      // A host has removed it.
    }
  }
}

/** A host of a sequence. */
export interface ModelHost {
  readonly host: ModelRunner;
  /** The directory of its local images. */
  readonly images: string;
  readonly options: StoreOptions;
  /** What the revisions of its claims end with. */
  readonly mark: string;
  /** Waits until everything has arrived that the host has sent until now. */
  settled(): Promise<void>;
  /** Opens the store on it. Default: in this process. */
  open?(): Promise<ModelStore>;
}

/** A store, and how hosts reach it. */
export interface ModelPlace {
  readonly place: string;
  readonly isFolder: boolean;
  /** Returns the keys of its objects. */
  keys(): Promise<string[]>;
  /** Sets the times of some objects back, so that they are `age` milliseconds old. */
  setBack(age: number, which: (key: string, text: string) => boolean): void;
  /** Whether calls can fail without a reason. */
  readonly hasFaults: boolean;
  /** Starts a host. Without faults, it is one that recovers the store. */
  start(images: string, hasFaults: boolean): Promise<ModelHost>;
  /** Waits until nothing of dead hosts arrives any more. */
  settled(): Promise<void>;
}

/** An attached disk, and its content. */
interface Session {
  readonly name: string;
  readonly disk: JoinedDisk;
  readonly life: number | undefined;
  readonly content: Buffer;
  /** When it was attached. */
  readonly begun: number;
  /** The content after the write that the host died in. */
  after: Buffer | undefined;
  /** Whether it has changes since the last save, of writes that were acknowledged. */
  isChanged: boolean;
  /** Whether the host began to detach it, so that the image may be gone. */
  isDetaching: boolean;
}

/** When a host had a disk. */
interface Tenure {
  readonly name: string;
  readonly host: ModelHost;
  end: number;
}

/** A local image that a host has left. */
interface Left {
  readonly session: Session;
  /** Whether it has changes since the last save. */
  readonly isChanged: boolean;
  /** The disk that a host has tried to save it as: if it died, the image may be gone. */
  readonly savedAs?: string | undefined;
}

/** A sequence of calls. */
export class StoreModel {
  readonly facts = new StoreFacts();
  readonly #hosts: ModelHost[] = [];
  readonly #tenures: Tenure[] = [];
  /** When the last call ended that can take a disk from a host, by the name of the disk. */
  readonly #takings = new Map<string, number>();
  /** What hosts have left, by the path of the image. */
  readonly #left = new Map<string, Left>();
  /** Calls that a time which is set back would affect. */
  #active = 0;
  #aging: Promise<void> | undefined;
  #salvaged = 0;
  /** How many disks were created: half of them have a volume. */
  #created = 0;
  readonly #mix: Mix;
  /** The last calls, for messages. */
  readonly log: string[] = [];

  constructor(
    private readonly random: Random,
    private readonly place: ModelPlace,
    private readonly samples: readonly Sample[],
    /** Returns a path in the folder of the sequence. */
    private readonly path: (name: string) => string,
  ) {
    this.#mix = MIXES[random.below(MIXES.length)] as Mix;
    for (const one of samples) {
      this.facts.knows(one.digest, hashOf(one.content));
      for (const twin of samples)
        this.facts.knows(
          `${one.digest}-${twin.digest}`,
          hashOf(Buffer.concat([one.content, twin.content])),
        );
    }
  }

  /** Runs hosts at the same time, some calls each, and recovers the store. */
  async run(hosts: number, calls: number): Promise<void> {
    const first = await this.place.start(this.path("images-first"), false);
    await first.host.run(async () => {
      const store = await DiskStore.open(this.place.place, first.options);
      for (const name of NAMES)
        if (this.random.below(4) > 0) await this.#create(first, store, name);
      await store.close();
    });
    await Promise.all(Array.from({ length: hosts }, (_, at) => this.#live(at, calls)));
    await this.#recover();
  }

  /** The life of a host: when it is killed, it starts again with the images that it has left. */
  async #live(at: number, calls: number): Promise<void> {
    const images = this.path(`images-${at}`);
    for (let left = calls; left > 0; ) {
      const host = await this.place.start(images, true);
      this.#hosts.push(host);
      if (this.random.below(3) === 0) host.host.dieAfter(this.random.below(400));
      const sessions = new Map<string, Session>();
      try {
        const store = await this.#open(host);
        if (store === undefined) {
          left -= 1;
          continue;
        }
        while (left > 0) {
          left -= 1;
          await this.#call(host, store, sessions);
        }
        for (const session of sessions.values()) await this.#detach(host, session, sessions);
        await host.host.run(() => store.close());
        host.host.kill();
        return;
      } catch (error) {
        if (!(error instanceof HostDied)) throw error;
        host.host.kill();
        this.#note(host, "died");
        for (const session of sessions.values()) this.#leave(host, session);
        await host.settled();
        this.#setBackClaims(host);
      }
    }
  }

  #open(host: ModelHost): Promise<ModelStore | undefined> {
    const open = host.open ?? (() => DiskStore.open(this.place.place, host.options));
    return this.#try<ModelStore>(host, "open", [], open);
  }

  async #call(
    host: ModelHost,
    store: ModelStore,
    sessions: Map<string, Session>,
  ): Promise<unknown> {
    const { random } = this;
    const name = random.pick(NAMES.slice(0, this.#mix.names));
    const session = [...sessions.values()][random.below(sessions.size)];
    switch (this.#pick()) {
      case "write":
        return session && this.#write(host, session);
      case "save":
        return session && this.#save(host, session);
      case "detach":
        return session && this.#detach(host, session, sessions);
      case "attach":
        return this.#attach(host, store, name, sessions);
      case "create":
        return this.#create(host, store, name);
      case "fork":
        return this.#fork(host, store, name);
      case "rollBack":
        return this.#rollBack(host, store, name);
      case "expire":
        return this.#expire(host, store, name);
      case "collect":
        return this.#collect(host, store);
      case "setBack":
        return this.#setBackTimes();
      case "sweep":
        return this.#sweep(host, store, name, session);
      case "remove":
        return this.#remove(host, store, name);
      case "salvage":
        return this.#salvage(host, store);
      case "look":
        return this.#look(host, store, name);
      case "kill":
        return host.host.kill();
    }
  }

  /** Returns a call of the mix. */
  #pick(): Call {
    const { calls } = this.#mix;
    return this.random.pick(CALLS.flatMap((call) => Array(calls[call] ?? 0).fill(call))) as Call;
  }

  async #create(host: ModelHost, store: ModelStore, name: string): Promise<void> {
    const sample = this.samples[this.random.below(this.samples.length)] as Sample;
    this.#created += 1;
    const twin = this.samples[this.#created % (2 * this.samples.length)];
    const volumes = twin && { [TWIN]: { from: twin.path } };
    const begun = this.facts.now();
    const life = this.facts.life(name);
    const made = await this.#try(host, `create ${name}`, ["ERR_DISK_EXISTS"], () =>
      store.create(name, { from: sample.path, pieceSize: PIECE, volumes }),
    );
    if (made === undefined) return;
    const isKnown = life === this.facts.life(name);
    this.facts.acknowledge(name, joined(made), begun, { life: isKnown ? life : undefined });
  }

  async #attach(
    host: ModelHost,
    store: ModelStore,
    name: string,
    sessions: Map<string, Session>,
  ): Promise<void> {
    if (sessions.has(name)) return;
    const { random, facts } = this;
    const steal = random.below(this.#mix.steals) === 0;
    const fill = (["all", "none"] as const)[random.below(2)] ?? "all";
    const begun = facts.now();
    const life = facts.life(name);
    const tenure: Tenure = { name, host, end: Number.POSITIVE_INFINITY };
    const others = this.#tenures.filter((one) => one.name === name && one.end > begun);
    this.#tenures.push(tenure);
    const refused = ["ERR_ATTACHED", "ERR_NO_DISK", "ERR_LEASE_LOST"];
    let code: unknown;
    const session = await this.#try(
      host,
      `attach ${name}${steal ? ", steal" : ""}`,
      refused,
      async () => {
        const disk = new JoinedDisk(await store.attach(name, { steal, fill, workers: 1 }));
        facts.checkAttached(name, disk.generation, begun);
        const { digest } = disk.generation;
        const content = await disk.read().catch(async (error) => {
          await disk.disk.detach({ save: false }).catch(() => {});
          throw error;
        });
        facts.checkContent(digest, content);
        return { name, disk, content, begun, life: life === facts.life(name) ? life : undefined };
      },
      (error) => {
        code = error.code;
      },
    );
    if (session !== undefined) {
      sessions.set(name, { ...session, after: undefined, isChanged: false, isDetaching: false });
      return;
    }
    tenure.end = facts.now();
    const rivals = this.#tenures.filter((one) => one.name === name && one.end > begun);
    const isAlone = others.length === 0 && rivals.every((one) => one === tenure);
    if (code === "ERR_ATTACHED" && isAlone && this.place.isFolder && !this.place.hasFaults)
      throw new Error(`${name}: refused as attached, but no host has it`);
  }

  async #write(host: ModelHost, session: Session): Promise<void> {
    const { random } = this;
    const { content, disk } = session;
    // Often the same, so that the same snapshots are stored again.
    const isCommon = random.below(2) === 0;
    const start = isCommon ? PIECE : random.below(content.length);
    const longest = Math.min(3 * PIECE, content.length - start);
    const length = isCommon ? PIECE : 1 + random.below(longest);
    const seed = random.below(isCommon ? 2 : 2 ** 31);
    const bytes = seed % 4 === 0 ? Buffer.alloc(length) : noise(`${seed}`, length);
    session.after = Buffer.from(content);
    bytes.copy(session.after, start);
    const done = await this.#try(host, `write ${session.name}`, [], async () => {
      await disk.write(start, bytes);
      return true;
    });
    // A write that fails may have changed a part.
    if (done === undefined) {
      await this.#reread(host, session);
    } else {
      session.after.copy(content);
      session.isChanged = true;
    }
    session.after = undefined;
  }

  async #reread(host: ModelHost, { disk, content }: Session): Promise<void> {
    const found = await this.#try(host, "read", [], () => disk.read());
    found?.copy(content);
  }

  async #save(host: ModelHost, session: Session): Promise<void> {
    const { facts, random } = this;
    const { disk, name, life } = session;
    const before = hashOf(session.content);
    const begun = facts.now();
    const label = random.below(4) === 0 ? "label" : undefined;
    facts.attempted(before);
    const { epoch } = disk.disk;
    const saved = await this.#try(host, `save ${name}`, ["ERR_LEASE_LOST"], () =>
      disk.save({ label }),
    );
    if (saved === undefined) return;
    session.isChanged = disk.changedBytes > 0;
    facts.knows(saved.digest, before);
    if (saved.changedBytes === 0 && label === undefined) return;
    facts.acknowledge(name, saved, begun, { epoch, life });
  }

  async #detach(host: ModelHost, session: Session, sessions: Map<string, Session>): Promise<void> {
    const { facts, random } = this;
    const { disk, name, life } = session;
    const before = hashOf(session.content);
    facts.attempted(before);
    const begun = facts.now();
    const save = random.below(5) > 0;
    const { epoch } = disk.disk;
    const hasChanged = save && disk.changedBytes > 0;
    session.isDetaching = true;
    for (let tries = 0; ; tries += 1) {
      let code: unknown;
      let isClaimed = false;
      const done = await this.#try(
        host,
        `detach ${name}${save ? "" : ", discard"}`,
        ["ERR_LEASE_LOST"],
        async () => {
          await disk.disk.detach({ save, workers: 1 });
          return true;
        },
        (error) => {
          code = error.code;
          isClaimed = CLAIMED.test(error.message);
        },
      );
      // As the message says, it succeeds minutes later.
      if (isClaimed) await this.#setBackTimes();
      if (done === true) {
        this.#end(host, name);
        sessions.delete(name);
        if (!hasChanged || disk.disk.lost.aborted) return;
        facts.knows(disk.generation.digest, before);
        facts.acknowledge(name, disk.generation, begun, { epoch, life });
        return;
      }
      if (code === "ERR_LEASE_LOST") {
        sessions.delete(name);
        session.isDetaching = false;
        // In an object store, time alone can take it.
        if (this.place.isFolder) this.#checkLost(session);
        this.#leave(host, session);
        return;
      }
      if (tries > 20) throw new Error(`${name}: 20 attempts to detach it have failed`);
    }
  }

  async #fork(host: ModelHost, store: ModelStore, name: string): Promise<void> {
    const { random, facts } = this;
    const forks = NAMES.filter((one) => one !== name && random.below(2) === 0);
    const begun = facts.now();
    const lives = forks.map((fork) => facts.life(fork));
    const refused = ["ERR_NO_DISK", "ERR_DISK_EXISTS"];
    const done = await this.#try(host, `fork ${name} ${forks}`, refused, async () => {
      await store.fork(name, forks);
      return true;
    });
    if (done !== true) return;
    forks.forEach((fork, at) => {
      const life = lives[at] === facts.life(fork) ? lives[at] : undefined;
      facts.acknowledge(fork, { number: 1 }, begun, { life });
    });
  }

  async #rollBack(host: ModelHost, store: ModelStore, name: string): Promise<void> {
    const begun = this.facts.now();
    const to = 1 + this.random.below(4);
    const refused = ["ERR_NO_DISK", "ERR_ATTACHED"];
    const taking = this.#taking(name);
    const done = await this.#try(host, `rollback ${name} ${to}`, refused, () =>
      store.rollback(name, to),
    ).finally(taking);
    if (done !== undefined) this.facts.acknowledge(name, joined(done), begun);
  }

  async #expire(host: ModelHost, store: ModelStore, one: string): Promise<void> {
    const name = this.random.below(2) === 0 ? one : undefined;
    const keepLast = 1 + this.random.below(2);
    const refused = name === undefined ? [] : ["ERR_NO_DISK"];
    let isKnown = false;
    try {
      const expired = await this.#try(host, `expire ${name ?? "all"}`, refused, () =>
        store.expire({ name, keepLast }),
      );
      if (expired === undefined) return;
      isKnown = true;
      for (const { name, generation } of expired) this.facts.doubt("expire", name, [generation]);
    } finally {
      if (!isKnown) this.facts.doubt("expire", name);
    }
  }

  async #collect(host: ModelHost, store: ModelStore): Promise<void> {
    const collect = () => store.collect({ grace: GRACE });
    const both = this.random.below(2) === 0;
    await this.#try(host, both ? "collect twice" : "collect", [], () =>
      Promise.all(both ? [collect(), collect()] : [collect()]),
    );
  }

  /** Collects snapshots whose grace period is over, while some of them are stored again. */
  async #sweep(
    host: ModelHost,
    store: ModelStore,
    name: string,
    session: Session | undefined,
  ): Promise<void> {
    await this.#collect(host, store);
    await this.#setBackTimes();
    const save = session === undefined ? undefined : this.#save(host, session);
    const all = [this.#collect(host, store), this.#create(host, store, name), save];
    const ends = await Promise.allSettled(all);
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }

  async #remove(host: ModelHost, store: ModelStore, name: string): Promise<void> {
    const taking = this.#taking(name);
    this.facts.endLife(name);
    let isRefused = false;
    try {
      await this.#try(
        host,
        `remove ${name}`,
        ["ERR_NO_DISK", "ERR_ATTACHED"],
        () => store.remove(name),
        ({ code }) => {
          isRefused = code === "ERR_NO_DISK" || code === "ERR_ATTACHED";
        },
      );
    } finally {
      taking();
      this.facts.endLife(name);
      if (!isRefused) this.facts.doubt("remove", name);
    }
  }

  /** Saves what a host has left as a new disk, or discards it. */
  async #salvage(host: ModelHost, store: ModelStore): Promise<void> {
    const found = await this.#try(host, "unsaved", [], async () => {
      const images: string[] = [];
      for await (const { image } of store.unsaved()) images.push(image);
      return images;
    });
    for (const image of found ?? []) {
      const left = this.#left.get(image);
      // Another call, which has failed, may have left it.
      if (left === undefined) {
        await this.#try(host, "discard", ["ERR_ARGUMENT"], () => store.discard(image));
        continue;
      }
      const { session } = left;
      this.#salvaged += 1;
      const name = `salvaged-${this.#salvaged}`;
      this.#left.set(image, { ...left, savedAs: name });
      const contents = [session.content, session.after].flatMap((one) => one ?? []).map(hashOf);
      this.facts.attempted(...contents);
      const begun = this.facts.now();
      let isIncomplete = false;
      const saved = await this.#try(
        host,
        `salvage ${session.name} as ${name}`,
        [],
        () => store.recover(image, name),
        ({ message }) => {
          isIncomplete = INCOMPLETE.test(message);
        },
      );
      if (isIncomplete) this.#left.delete(image);
      if (isIncomplete) await this.#try(host, "discard", [], () => store.discard(image));
      if (saved === undefined) continue;
      this.#left.delete(image);
      this.facts.knows(joined(saved).digest, ...contents);
      this.facts.acknowledge(name, joined(saved), begun);
    }
  }

  /** Reads the state of the store. */
  async #look(host: ModelHost, store: ModelStore, name: string): Promise<void> {
    await this.#try(host, `stat ${name}`, ["ERR_NO_DISK"], async () => {
      const names: string[] = [];
      for await (const one of store.list()) names.push(one);
      return store.stat(name);
    });
  }

  /**
   * Sets the times of tombstones and temporary files back, as if the grace period were over, and in an object store those
   * of pointers, as if the hosts had not renewed their leases. No save, creation or collection takes as long.
   */
  async #setBackTimes(): Promise<void> {
    if (this.#aging !== undefined) return this.#aging;
    this.#aging = (async () => {
      while (this.#active > 0) await sleep(1);
      // No request arrives as late, not even one of a host that has died.
      await Promise.all(this.#hosts.map((host) => host.settled()));
      this.#setBackStore();
    })();
    await this.#aging;
    this.#aging = undefined;
  }

  #setBackStore(): void {
    this.place.setBack(AGE, () => true);
  }

  /** Sets the times of the claims and removals of a dead host back: others wait for minutes until they take over. */
  #setBackClaims({ mark }: ModelHost): void {
    this.place.setBack(
      Date.now(),
      (key, text) =>
        /^(disks|tombstones)\//.test(key) &&
        /"deleting"|"removed"/.test(text) &&
        text.includes(`${mark}"`),
    );
  }

  /**
   * Carries out a call on a host. Returns undefined if it fails for an expected reason.
   *
   * @param refused the codes of errors that need no fault
   */
  async #try<T>(
    { host }: ModelHost,
    text: string,
    refused: readonly string[],
    call: () => Promise<T>,
    onError?: (error: SnapshotError) => void,
  ): Promise<T | undefined> {
    while (this.#aging !== undefined) await this.#aging;
    this.#active += 1;
    const number = this.#hosts.findIndex((one) => one.host === host);
    this.log.push(`${number}: ${text}`);
    try {
      const result = await host.run(call);
      this.log.push(`${number}: ${text}: done`);
      return result;
    } catch (error) {
      this.log.push(`${number}: ${text}: ${(error as Error).message}`);
      if (error instanceof HostDied) throw error;
      this.#expected(error, text, refused);
      onError?.(error as SnapshotError);
      return undefined;
    } finally {
      this.#active -= 1;
    }
  }

  #expected(error: unknown, text: string, refused: readonly string[]): void {
    const { code } = error as SnapshotError;
    if (refused.includes(code) || (this.place.hasFaults && FAULTS.includes(code))) return;
    // The generation that an image began with may have expired.
    if (INCOMPLETE.test((error as Error).message)) return;
    // So may one that was rolled back to.
    if (text.startsWith("rollback") && code === "ERR_NO_DISK") return;
    throw error;
  }

  /** Notes the beginning of a call that can take a disk from a host. Returns a function for its end. */
  #taking(name: string): () => void {
    this.#takings.set(name, Number.POSITIVE_INFINITY);
    return () => void this.#takings.set(name, this.facts.now());
  }

  /** Checks that another call can have taken a disk that was lost. */
  #checkLost({ name, begun }: Session): void {
    const rivals = this.#tenures.filter((one) => one.name === name && one.end > begun);
    // One of them is that of the session.
    if (rivals.length > 1 || (this.#takings.get(name) ?? 0) > begun) return;
    throw new Error(`${name}: lost, but no call has taken it`);
  }

  #note(host: ModelHost, text: string): void {
    this.log.push(`${this.#hosts.indexOf(host)}: ${text}`);
  }

  #end(host: ModelHost, name: string): void {
    for (const one of this.#tenures)
      if (one.host === host && one.name === name) one.end = Math.min(one.end, this.facts.now());
  }

  /** Notes that a host has left the image of a disk. */
  #leave(host: ModelHost, session: Session): void {
    this.#end(host, session.name);
    const { disk, isChanged, isDetaching } = session;
    // Not the state of a dead host: it may go on with a write, which no longer reaches its files.
    this.#left.set(disk.disk.image, { session, isChanged: isChanged && !isDetaching });
  }

  /** Checks the store on a new host for each directory of images, and that only what is needed is left. */
  async #recover(): Promise<void> {
    for (const { host } of this.#hosts) host.kill();
    await this.place.settled();
    await Promise.all(this.#hosts.map((host) => host.settled()));
    for (const host of this.#hosts) this.#setBackClaims(host);
    const filesIn = (images: string) =>
      existsSync(images) ? readdirSync(images).filter((name) => name !== "lock") : [];
    const all = [...new Set(this.#hosts.map(({ images }) => images))];
    const folders = all.filter((images, at) => at === 0 || filesIn(images).length > 0);
    for (const [at, images] of folders.entries()) {
      const host = await this.place.start(images, false);
      setBackFiles(images, AGE);
      await host.host.run(() => this.#recoverOn(host, at === folders.length - 1));
      host.host.kill();
      const left = filesIn(images);
      if (left.length > 0) throw new Error(`${images}: expected nothing, found ${left}`);
    }
  }

  async #recoverOn(host: ModelHost, isLast: boolean): Promise<void> {
    const store = await DiskStore.open(this.place.place, host.options);
    await this.#salvage(host, store);
    // A thread of a dead host may have written to a temporary file since.
    setBackFiles(host.images, AGE);
    await store.collect({ grace: GRACE });
    if (isLast) await this.#check(store, host.options);
    await store.close();
  }

  async #check(store: DiskStore, options: StoreOptions): Promise<void> {
    // Deletes what was marked, and takes over what dead hosts were deleting.
    for (let times = 0; times < 2; times += 1) {
      this.#setBackStore();
      await store.collect({ grace: GRACE });
    }
    const names: string[] = [];
    for await (const name of store.list()) names.push(name);
    const all = new Set([...NAMES, ...names]);
    for (let at = 1; at <= this.#salvaged; at += 1) all.add(`salvaged-${at}`);
    const generations = new Map<string, string[]>();
    for (const name of all) {
      const found: Generation[] = [];
      if (names.includes(name))
        for await (const generation of store.history(name)) found.push(generation);
      this.facts.checkDisk(name, names.includes(name) ? found.map(joined) : undefined);
      for (const generation of found)
        generations.set(joined(generation).digest, digestsOf(generation));
    }
    const needed = new Set([...generations.values()].flat());
    const resolve = (digest: string) => {
      needed.add(digest);
      return this.#sourceOf(digest);
    };
    for (const [identity, digests] of generations) {
      const contents = [];
      for (const digest of digests)
        contents.push(await this.#read(digest, { ...options, resolve }));
      this.facts.checkContent(identity, Buffer.concat(contents));
    }
    await this.#checkObjects(names, needed);
    for (const [image, { isChanged, savedAs = "" }] of this.#left)
      if (isChanged && !names.includes(savedAs)) throw new Error(`${image}: its changes are lost`);
  }

  #sourceOf(digest: string): string {
    return `${this.place.place}/snapshots/${digest}.vhs`;
  }

  /** Reads a snapshot. */
  async #read(
    digest: string,
    options: StoreOptions & { readonly resolve: (digest: string) => string },
  ): Promise<Buffer> {
    const source = this.#sourceOf(digest);
    const image = this.path("verified");
    const { s3, gcs, azure, resolve } = options;
    const how = { s3, gcs, azure, resolve, digest, workers: 1 };
    // Decoding in this thread is faster.
    if (this.random.below(10) === 0) {
      await restoreSnapshot(source, image, { ...how, overwrite: true });
    }
    await using disk = await openSnapshot(source, {
      ...how,
      ...{ image: this.path(`image-${digest}`), fill: "none", onStall: "error" },
    });
    return await disk.read(0, disk.size);
  }

  /** Checks that the store has what is needed, and nothing else. */
  async #checkObjects(names: readonly string[], needed: ReadonlySet<string>): Promise<void> {
    const expected = new Set(["hedgerow-disks.json", ...names.map((name) => `disks/${name}`)]);
    if (this.place.isFolder) expected.add("lock");
    for (const digest of needed) expected.add(`snapshots/${digest}.vhs`);
    const found = (await this.place.keys()).filter(
      (key) => !needed.has(/^snapshots\/(.*)\.vhs\.trace$/.exec(key)?.[1] ?? ""),
    );
    const extra = found.filter((key) => !expected.has(key));
    const missing = [...expected].filter((key) => !found.includes(key));
    if (extra.length === 0 && missing.length === 0) return;
    throw new Error(`the store has ${extra.join(", ") || "nothing"} too much, lacks ${missing}`);
  }
}
