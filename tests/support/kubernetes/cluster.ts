/** Nodes with agents, and the extender, over a Redis server and a server of snapshots. */
import { mkdirSync } from "node:fs";
import { createSnapshot } from "@hedgerow/snapshot";
import { expect } from "vitest";

import { Redis } from "../../../js/fleet/test/support/redis.js";
import { type Origin, startOrigin } from "../../origin/origin.mjs";
import { noise, writeSparse } from "../snapshots/image.js";
import { startProxy } from "../snapshots/proxy.js";
import { type Answer, ask, ExampleProgram, post } from "./program.js";
import { throughGo } from "./validate.js";

const MIB = 2 ** 20;

/** The size of an image, in bytes. Its snapshot takes 2 MiB. */
export const IMAGE_SIZE = 8 * MIB;

/** How long an agent is known after it has died, in milliseconds. */
const TTL = 1_500;

export const NODES = ["node-a", "node-b", "node-c"] as const;
export type Node = (typeof NODES)[number];

export class Cluster {
  readonly agents = new Map<Node, ExampleProgram>();
  /** The digests of images, by name. */
  readonly digests: Record<string, string> = {};
  /** Responses with snapshots wait for this. */
  held: Promise<unknown> = Promise.resolve();
  #extender: ExampleProgram | undefined;
  #proxy: Awaited<ReturnType<typeof startProxy>> | undefined;

  private constructor(
    readonly redis: Redis,
    readonly origin: Origin,
    readonly path: (...parts: string[]) => string,
  ) {}

  /** Starts everything. @param images the names of images to make, as files in the folder */
  static async start(
    path: (...parts: string[]) => string,
    images: readonly string[],
  ): Promise<Cluster> {
    const cluster = new Cluster(await Redis.start(), await startOrigin(), path);
    try {
      cluster.#proxy = await startProxy(cluster.origin.url(), () => ({ delay: cluster.held }));
      for (const image of images) await cluster.#serve(image);
      const agents = NODES.map((node) => cluster.#startAgent(node));
      await Promise.all([...agents, cluster.#startExtender()]);
      return cluster;
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  get extender(): ExampleProgram {
    if (this.#extender === undefined) throw new Error("the extender does not run");
    return this.#extender;
  }

  agent(node: Node): ExampleProgram {
    const agent = this.agents.get(node);
    if (agent === undefined) throw new Error(`expected an agent of ${node}`);
    return agent;
  }

  /** The URL of the snapshot of an image, or the folder of all snapshots. */
  source(image?: string): string {
    const path = image === undefined ? "/bases/" : `/bases/${image}.vhs`;
    return new URL(path, this.#proxy?.endpoint).href;
  }

  /** The number of requests for snapshots. */
  get requestCount(): number {
    return this.#proxy?.requests.length ?? 0;
  }

  socket(node: Node): string {
    return this.path(node, "agent.sock");
  }

  /** Asks the agent of a node for an image. */
  restore(node: Node, image: string, copyTo?: string): Promise<Answer> {
    const [source, digest] = [this.source(image), this.digests[image]];
    return ask(this.socket(node), { source, digest, copyTo });
  }

  /** Returns ExtenderArgs as the scheduler sends them, which has sent all about the nodes before or not. */
  argumentsFor(digest: string | undefined, isCached = true): string {
    const items = NODES.map((name) => ({ metadata: { name } }));
    const nodes = isCached ? { NodeNames: NODES } : { Nodes: { items } };
    const annotations = digest === undefined ? {} : { "hedgerow.example/image": digest };
    const containers = [{ name: "sandbox", image: "registry.example/sandbox:1" }];
    const Pod = { metadata: { name: "sandbox", annotations }, spec: { containers } };
    return throughGo("ExtenderArgs", JSON.stringify({ Pod, ...nodes }));
  }

  /** Asks for scores. Returns them in the order of the nodes, as the scheduler decodes them. */
  async scores(args: string): Promise<number[]> {
    const { status, body } = await post(`${this.extender.url}/prioritize`, args);
    expect(status).toBe(200);
    const list = JSON.parse(throughGo("HostPriorityList", JSON.stringify(body)));
    const scores = new Map(list.map(({ Host, Score }: Record<string, never>) => [Host, Score]));
    expect([...scores.keys()]).toEqual(NODES);
    return [...scores.values()] as number[];
  }

  /** Waits until a pod with an image gets these scores, which follow the reports of agents. */
  async expectScores(image: string, ...scores: number[]): Promise<void> {
    const args = this.argumentsFor(this.digests[image]);
    const options = { timeout: 30_000, interval: 20 };
    await expect.poll(() => this.scores(args), options).toEqual(scores);
  }

  async close(): Promise<void> {
    const programs = [...this.agents.values(), this.#extender];
    await Promise.all(programs.map((program) => program?.close()));
    await this.#proxy?.[Symbol.asyncDispose]();
    await Promise.all([this.redis.close(), this.origin.close()]);
  }

  async #serve(name: string): Promise<void> {
    const [image, snapshot] = [this.path(`${name}.img`), this.path(`${name}.vhs`)];
    writeSparse(image, IMAGE_SIZE, [0, IMAGE_SIZE / 2], (at) => noise(`${name} ${at}`, MIB));
    this.digests[name] = (await createSnapshot(image, snapshot, { workers: 1 })).digest;
    this.origin.set(`/bases/${name}.vhs`, snapshot);
  }

  async #startAgent(node: Node): Promise<void> {
    mkdirSync(this.path(node));
    const agent = await ExampleProgram.start("agent.mjs", {
      ENGINE_URL: this.redis.url,
      NODE_NAME: node,
      DATA: this.path(node),
      SOCKET: this.socket(node),
      SOURCES: `s3://other/ ${this.source()}`,
      MAX_BYTES: `${100 * MIB}`,
      TTL: `${TTL}`,
    });
    this.agents.set(node, agent);
  }

  async #startExtender(): Promise<void> {
    this.#extender = await ExampleProgram.start("extender.mjs", { ENGINE_URL: this.redis.url });
  }
}
