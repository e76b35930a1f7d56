/** An endpoint in front of the S3 server that holds back an answer, so that who asked is in the middle of its work. */
import { type Proxy as SpoilingProxy, startProxy } from "../../support/snapshots/proxy.js";

/** How many requests are answered before one is held. */
export interface Moment {
  readonly method: "GET" | "PUT";
  readonly after: number;
}

export class HoldingEndpoint {
  readonly #proxy: SpoilingProxy;
  /** Is over when a request is held. */
  readonly held: Promise<void>;

  private constructor(proxy: SpoilingProxy, held: Promise<void>) {
    this.#proxy = proxy;
    this.held = held;
  }

  static async start(target: URL, { method, after }: Moment): Promise<HoldingEndpoint> {
    let hold = () => {};
    const held = new Promise<void>((resolve) => {
      hold = resolve;
    });
    // The server is done with it then: what it did with half a request would be known much later.
    const fault = () => {
      hold();
      return { noAnswer: true };
    };
    let asked = 0;
    const proxy = await startProxy(target, (request) => {
      if (request.method !== method) return undefined;
      asked += 1;
      if (asked <= after) return undefined;
      return { fault };
    });
    return new HoldingEndpoint(proxy, held);
  }

  get endpoint(): URL {
    return this.#proxy.endpoint;
  }

  async close(): Promise<void> {
    await this.#proxy[Symbol.asyncDispose]();
  }
}
