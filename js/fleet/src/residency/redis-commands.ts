import { FleetError } from "../error.js";
import type { RedisClient } from "./redis-client.js";
import { redisError } from "./redis-error.js";

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
