import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";

import type { Transfer } from "../options/transfer-options.js";
import { Download } from "./read/download.js";

/** What is at a URL. Plain values: threads share it. */
export interface Endpoint {
  /** The URL with all that is in it, which may be secret. */
  readonly url: string;
  /** What each request carries, which may be secret, too. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Asks for what is at one URL, by Node's own client, over connections that are kept. */
export class HttpClient {
  readonly #url: URL;
  readonly #agent: HttpAgent | HttpsAgent;

  constructor(
    readonly endpoint: Endpoint,
    readonly timeouts: Transfer["timeouts"],
  ) {
    this.#url = new URL(endpoint.url);
    const Agent = this.#url.protocol === "https:" ? HttpsAgent : HttpAgent;
    this.#agent = new Agent({ keepAlive: true });
  }

  /** Begins to ask for something. */
  get(headers: Readonly<Record<string, string>>): Download {
    const request = this.#url.protocol === "https:" ? httpsRequest : httpRequest;
    const sent = request(this.#url, {
      agent: this.#agent,
      // What is compressed on the way has no ranges.
      headers: { "accept-encoding": "identity", ...this.endpoint.headers, ...headers },
    });
    return new Download(sent, this.timeouts);
  }

  /** Ends the connections that nothing is asked on. */
  close(): void {
    this.#agent.destroy();
  }
}
