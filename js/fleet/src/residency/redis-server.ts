/** The server behind a client, and commands to it. */
import { invalid } from "../check.js";
import { FleetError } from "../error.js";
import {
  type OwnConnection,
  openConnection,
  type RedisClient,
  type RedisCluster,
  type RedisCommandOptions,
  type RedisConnection,
  redisError,
} from "./redis-client.js";

/** The server, or the cluster, behind a client. */
export interface RedisServer extends Pick<RedisClient, "isReady" | "sendCommand"> {
  /** The number of times that another connection has replaced that of commands. */
  readonly replaced: number;
  /** Returns a client for another connection to it, which is not connected. */
  duplicate(): RedisConnection | Promise<RedisConnection>;
}

/**
 * Returns the server behind a client.
 *
 * @param timeout of a reply, in milliseconds
 * @throws {FleetError} `ERR_ARGUMENT`
 */
export function serverOf(client: unknown, timeout: number): RedisServer {
  if (isCluster(client)) return clusterOf(client);
  const refusal = refusalOf(client);
  if (refusal !== undefined) throw refusal;
  return new PrimaryServer(client as RedisClient, timeout);
}

const hasMethods = (value: unknown, ...names: string[]) =>
  names.every((name) => typeof Object(value)[name] === "function");

function isCluster(client: unknown): client is RedisCluster {
  return hasMethods(client, "sendCommand", "getRandomNode", "nodeClient");
}

/** Clients with the same methods, which take other arguments. */
const OTHERS: readonly (readonly [method: string, what: string])[] = [
  ["defineCommand", "one of ioredis"],
  ["getSentinelNode", "one of createSentinel: connect to an endpoint that leads to the primary"],
];

function refusalOf(client: unknown): FleetError | undefined {
  const other = OTHERS.find(([method]) => hasMethods(client, method));
  if (other === undefined && hasMethods(client, "sendCommand", "duplicate")) return undefined;
  const expected = "a client of the package redis, or a FleetEngine";
  return invalid("client", expected, other?.[1] ?? typeof client);
}

/** All keys of a fleet are in one slot; every node has all messages. */
function clusterOf(cluster: RedisCluster): RedisServer {
  return {
    replaced: 0,
    get isReady() {
      return cluster.isReady ?? true;
    },
    // `EVAL`, the script, the number of keys, and the first key.
    sendCommand: (args, options) => cluster.sendCommand(args[3], false, [...args], options),
    async duplicate() {
      return (await cluster.nodeClient(cluster.getRandomNode())).duplicate();
    },
  };
}

/** The beginning of errors of a replica: it takes no writes, or has lost its primary and holds old data. */
const REPLICA_ERROR = /\b(?:READONLY|MASTERDOWN)\b/;

/** How long a replacement connection stays open without commands, in milliseconds. */
const IDLE_TIMEOUT = 60_000;

/**
 * A server whose endpoint may later lead to another server. After a planned failover the client stays connected to the
 * former primary, which answers as a replica: the command is then sent again on a new connection, which later commands
 * use, too. The client itself may have other users, so it is not changed.
 */
class PrimaryServer {
  readonly #client: RedisClient;
  readonly #timeout: number;
  #replaced = 0;
  /** The connection that has replaced that of the client. */
  #own: OwnConnection | undefined;
  #opening: Promise<OwnConnection> | undefined;
  #idle: NodeJS.Timeout | undefined;

  /** @param timeout to connect, in milliseconds */
  constructor(client: RedisClient, timeout: number) {
    this.#client = client;
    this.#timeout = timeout;
  }

  get isReady(): boolean {
    return this.#own !== undefined || this.#client.isReady !== false;
  }

  get replaced(): number {
    return this.#replaced;
  }

  duplicate(): RedisConnection {
    return this.#client.duplicate();
  }

  async sendCommand(args: readonly string[], options?: RedisCommandOptions): Promise<unknown> {
    const used = this.#own;
    this.#idle?.refresh();
    try {
      return await (used?.connection ?? this.#client).sendCommand(args, options);
    } catch (error) {
      if (!(error instanceof Error && REPLICA_ERROR.test(error.message))) throw error;
      const { connection } = await this.#insteadOf(used);
      return await connection.sendCommand(args, options);
    }
  }

  /** Returns the connection that replaces one, and opens it unless another command has done so. */
  async #insteadOf(used: OwnConnection | undefined): Promise<OwnConnection> {
    if (this.#own !== undefined && this.#own !== used) return this.#own;
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  async #open(): Promise<OwnConnection> {
    this.#close();
    const own = await openConnection(() => this.duplicate(), {
      timeout: this.#timeout,
      onEnd: () => this.#close(),
    });
    own.connection.unref();
    this.#own = own;
    this.#replaced += 1;
    this.#idle = setTimeout(() => this.#close(), IDLE_TIMEOUT).unref();
    return own;
  }

  /** Goes back to the connection of the client. */
  #close(): void {
    clearTimeout(this.#idle);
    this.#own?.close();
    this.#own = undefined;
  }
}

/**
 * The maximum number of commands that wait for a reply after their timeout. The client does not forget them until its
 * connection fails.
 */
const MAX_LATE = 256;

/** Sends commands to Redis, each with a timeout: a client without a connection keeps them for later. */
export class RedisCommands {
  readonly #client: Pick<RedisClient, "sendCommand" | "isReady">;
  readonly #timeout: number;
  #late = 0;
  /** Whether the last command had no reply. */
  #isAway = false;

  /** @param timeout in milliseconds */
  constructor(client: Pick<RedisClient, "sendCommand" | "isReady">, timeout: number) {
    this.#client = client;
    this.#timeout = timeout;
  }

  /**
   * Runs a script. Sends its text each time, which is short: after a digest that the engine does not know, it could come
   * too late.
   *
   * @throws {FleetError} `ERR_ENGINE`
   */
  run(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    return this.send(["EVAL", script, `${keys.length}`, ...keys, ...args]);
  }

  /** Sends a command. @throws {FleetError} `ERR_ENGINE` */
  async send(args: readonly string[]): Promise<unknown> {
    try {
      return await this.#send(args);
    } catch (error) {
      throw redisError(error);
    }
  }

  async #send(args: readonly string[]): Promise<unknown> {
    if (this.#isAway && this.#client.isReady === false) {
      throw new FleetError("ERR_ENGINE", "Redis: the client is not connected");
    }
    if (this.#late >= MAX_LATE) throw new FleetError("ERR_ENGINE", "Redis: does not answer");
    const ending = new AbortController();
    // Options of the client might ask for other types.
    const options = { abortSignal: ending.signal, typeMapping: {} };
    let isLate = false;
    const reply = Promise.resolve(this.#client.sendCommand(args, options)).finally(() => {
      if (isLate) this.#late -= 1;
    });
    let timer: NodeJS.Timeout | undefined;
    let check: NodeJS.Immediate | undefined;
    const late = new Promise<never>((_, reject) => {
      const expire = () => {
        isLate = true;
        this.#late += 1;
        this.#isAway = true;
        reject(new FleetError("ERR_ENGINE", `Redis: no reply within ${this.#timeout} ms`));
        // Removes a command that was not sent yet.
        ending.abort();
      };
      // Node runs timers before it reads sockets: if this process had to wait for a processor, the reply may be there.
      timer = setTimeout(() => {
        check = setImmediate(expire);
      }, this.#timeout);
    });
    try {
      const found = await Promise.race([reply, late]);
      this.#isAway = false;
      return found;
    } finally {
      clearTimeout(timer);
      clearImmediate(check);
    }
  }
}
