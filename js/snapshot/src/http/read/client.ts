import { type Agent, request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";

import type { Transfer } from "../../options/transfer-options.js";
import { agentFor } from "../agent.js";
import { proxyFields } from "../proxy.js";
import { Download } from "./download.js";

/** A URL and the headers for it. Plain values, which threads can share. */
export interface Endpoint {
  /** The whole URL, which may hold secrets. */
  readonly url: string;
  /** Headers of every request, which may hold secrets. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Sends `GET` requests to one URL, over connections that are kept alive. */
export class HttpClient {
  readonly #url: URL;
  readonly #agent: Agent;

  /** @param others clients whose connections it shares, if they use the same protocol */
  constructor(
    readonly endpoint: Endpoint,
    readonly timeouts: Transfer["timeouts"],
    others: readonly (HttpClient | undefined)[] = [],
  ) {
    this.#url = new URL(endpoint.url);
    const shared = others.find((other) => {
      return other !== undefined && other.#url.protocol === this.#url.protocol;
    });
    const options = { keepAlive: true, connectTimeout: timeouts.connect };
    this.#agent = shared === undefined ? agentFor(this.#url.protocol, options) : shared.#agent;
  }

  /** Creates a request, which `Download` sends. */
  get(headers: Readonly<Record<string, string>>): Download {
    const request = this.#url.protocol === "https:" ? httpsRequest : httpRequest;
    const { proxyName, path, headers: proxyHeaders } = proxyFields(this.#url);
    const sent = request(this.#url, {
      ...{ agent: this.#agent, ...(path === undefined ? {} : { path }) },
      // Ranges of a compressed response are not ranges of the object.
      headers: {
        "accept-encoding": "identity",
        ...this.endpoint.headers,
        ...headers,
        ...proxyHeaders,
      },
    });
    return new Download(sent, this.timeouts, proxyName);
  }

  /** Closes idle connections, and those to proxies that no request holds yet. */
  close(): void {
    this.#agent.destroy();
  }
}
