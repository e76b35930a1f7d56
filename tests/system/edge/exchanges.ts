/** Requests to the worker, and the checks that every one of them has to pass. */
import { once } from "node:events";
import { Agent, request } from "node:http";
import { normalizePath } from "hedgerow";

import { ask, type Reply } from "../../support/http/client.js";
import { pairsOf } from "../../support/http/fields.js";
import type { Coverage } from "../coverage.js";
import type { Choices } from "../random.js";
import { checkFields, type Fields, makeFields } from "./fields.js";
import { ANSWERED, type Answer, type Arrival, NUMBER, type SiteOrigin } from "./origin.js";
import type { RequestPath } from "./paths.js";
import { type Deployment, keyOf } from "./site.js";

export const EXCHANGE_KINDS = [
  ...["origin: error", "origin: redirect", "origin: cut", "client: disconnected"],
  ...["present: passed", "absent: rejected", "method: not guarded"],
];

/** Whether a request reached the origin. */
export type Outcome = "passed" | "rejected";

const NOTHING: Fields = { all: [], kept: [], kinds: [] };

export class Exchanges {
  readonly #url: URL;
  readonly #origin: SiteOrigin;
  readonly #coverage: Coverage;
  /** Opens a connection for each request: a kept one may close just as it is used again. */
  readonly #agent = new Agent({ keepAlive: false });
  #count = 0;

  constructor(url: URL, origin: SiteOrigin, coverage: Coverage) {
    this.#url = url;
    this.#origin = origin;
    this.#coverage = coverage;
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Sends a GET or HEAD request for a path of a deployment. */
  async exchange(
    deployment: Deployment,
    requested: RequestPath,
    choices: Choices,
  ): Promise<Outcome> {
    const method = choices.pick(["GET", "GET", "GET", "HEAD"]);
    const outcome = await this.#exchange(method, deployment, requested, choices);
    const isPresent = deployment.has(requested.path);
    if (isPresent && outcome === "passed") this.#coverage.count("present: passed");
    if (!isPresent && outcome === "rejected") this.#coverage.count("absent: rejected");
    return outcome;
  }

  /** Sends a request with a method that is not guarded. */
  async post(deployment: Deployment, requested: RequestPath, choices: Choices): Promise<void> {
    const outcome = await this.#exchange("POST", deployment, requested, choices);
    if (outcome === "rejected") throw new Error(`POST ${requested.sent} was rejected`);
    this.#coverage.count("method: not guarded");
  }

  /** Sends a request, and disconnects when `filterRequested` resolves. */
  async disconnect(
    deployment: Deployment,
    requested: RequestPath,
    filterRequested: Promise<void>,
  ): Promise<void> {
    const number = this.#nextNumber();
    // The worker may forward the request if it has not noticed the disconnection.
    this.#origin.expectRequest(number, { status: 200, fields: NOTHING, isCut: false });
    const { host, hostname, port } = this.#url;
    const headers = ["Host", host, NUMBER, number, "x-deployment", deployment.name];
    const outgoing = request({ hostname, port, path: requested.sent, headers, agent: this.#agent });
    const answered = once(outgoing, "response");
    outgoing.end();
    const isAnswered = await Promise.race([
      filterRequested.then(() => false),
      answered.then(() => true),
    ]);
    if (isAnswered) throw new Error(`${requested.sent} was answered before its filter arrived`);
    answered.catch(() => {});
    outgoing.destroy();
    this.#coverage.count("client: disconnected");
  }

  #nextNumber(): string {
    this.#count += 1;
    return `${this.#count}`;
  }

  async #exchange(
    method: string,
    deployment: Deployment,
    requested: RequestPath,
    choices: Choices,
  ): Promise<Outcome> {
    const number = this.#nextNumber();
    const sent = makeFields(choices);
    const answer = this.#answerTo(method, deployment.has(requested.path), choices);
    for (const kind of [...sent.kinds, ...answer.fields.kinds]) this.#coverage.count(kind);
    this.#origin.expectRequest(number, answer);
    const headers = [NUMBER, number, "x-deployment", deployment.name, ...sent.all.flat()];
    const options = { method, path: requested.sent, headers, agent: this.#agent };
    const replying = ask(this.#url, options);
    const reply = answer.isCut ? await replying.catch(() => undefined) : await replying;
    const arrival = this.#origin.takeArrival(number);
    try {
      return check(method, requested, sent, answer, arrival, reply);
    } catch (cause) {
      const details = `${method} ${requested.sent} with ${JSON.stringify(headers)}`;
      throw new Error(`${(cause as Error).message}\n${details}`, { cause });
    }
  }

  #answerTo(method: string, isPresent: boolean, choices: Choices): Answer {
    const fields = makeFields(choices);
    const plain = { status: isPresent ? 200 : 404, fields, isCut: false };
    if (!isPresent || choices.chance(0.85)) return plain;
    // A response to HEAD has no body to cut.
    const cut = method === "HEAD" ? [] : ["origin: cut"];
    const kind = choices.pick(["origin: error", "origin: redirect", ...cut]);
    this.#coverage.count(kind);
    if (kind === "origin: cut") return { ...plain, isCut: true };
    return { ...plain, status: kind === "origin: error" ? 500 : 302 };
  }
}

function check(
  method: string,
  { path }: RequestPath,
  sent: Fields,
  answer: Answer,
  arrival: Arrival | undefined,
  reply: Reply | undefined,
): Outcome {
  if (reply !== undefined) {
    checkFields(pairsOf(reply.rawHeaders), arrival === undefined ? NOTHING : answer.fields);
  }
  if (arrival === undefined) {
    if (reply?.status === 404 && !(ANSWERED in reply.headers)) return "rejected";
    throw new Error(`expected a rejection or an arrival at the origin, found ${reply?.status}`);
  }
  checkFields(arrival.fields, sent);
  const wanted = `${method} ${keyOf(path)}`;
  const found = `${arrival.method} ${normalizePath(arrival.path)}`;
  if (found !== wanted) throw new Error(`expected ${wanted} to arrive, found ${found}`);
  if (reply !== undefined && (reply.status !== answer.status || !(ANSWERED in reply.headers))) {
    throw new Error(`expected the origin's ${answer.status}, found ${reply.status}`);
  }
  return "passed";
}
