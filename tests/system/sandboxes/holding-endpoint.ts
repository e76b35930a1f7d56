/** A proxy in front of the S3 server that withholds a response, to keep a client in the middle of its work. */
import { type Proxy as FaultProxy, startProxy } from "../../support/snapshots/proxy.js";

/** The number of requests with this method that are answered before the held one. */
export interface Moment {
  readonly method: "GET" | "PUT";
  readonly after: number;
}

export class HoldingEndpoint {
  readonly #proxy: FaultProxy;
  /** Resolves when a request is held. */
  readonly held: Promise<void>;

  private constructor(proxy: FaultProxy, held: Promise<void>) {
    this.#proxy = proxy;
    this.held = held;
  }

  static async start(target: URL, { method, after }: Moment): Promise<HoldingEndpoint> {
    let hold = () => {};
    const held = new Promise<void>((resolve) => {
      hold = resolve;
    });
    // Hold the response, not the request: the server would notice half a request only much later.
    const fault = () => {
      hold();
      return { noAnswer: true };
    };
    let requests = 0;
    const proxy = await startProxy(target, (request) => {
      if (request.method !== method) return undefined;
      requests += 1;
      if (requests <= after) return undefined;
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
