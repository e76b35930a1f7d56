import type { RedisClient, RedisCommandOptions, RedisConnection } from "./redis-client.js";
import { type OwnConnection, openConnection } from "./redis-connection.js";

/** The beginning of errors of a replica: it takes no writes, or has lost its primary and holds old data. */
const REPLICA_ERROR = /\b(?:READONLY|MASTERDOWN)\b/;

/** How long a connection of its own stays open without commands, in milliseconds. */
const IDLE_TIMEOUT = 60_000;

/**
 * A server whose endpoint may come to lead to another one. After a planned failover the client stays connected to the
 * former primary, which answers as a replica: the command is then sent again on a new connection, which later commands
 * use, too. The client itself may have other users, and is left as it is.
 */
export class PrimaryServer {
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
