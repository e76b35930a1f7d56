/** Requests to the worker, and what has to be true of each of them, whatever else happens. */
import { once } from "node:events";
import { Agent, request } from "node:http";
import { normalizePath } from "hedgerow";

import { ask, type Reply } from "../../support/http/ask.js";
import { pairsOf } from "../../support/http/fields.js";
import type { Coverage } from "../coverage.js";
import type { Choices } from "../random.js";
import { checkFields, type Fields, makeFields } from "./fields.js";
import { ANSWERED, type Answer, type Arrival, NUMBER, type SiteOrigin } from "./origin.js";
import type { AskedPath } from "./paths.js";
import { type Deployment, keyOf } from "./site.js";

export const EXCHANGE_KINDS = [
  ...["origin: error", "origin: redirect", "origin: cut", "client: gone"],
  ...["present: passed", "absent: refused", "method: not guarded"],
];

/** What became of a request: whether it reached the origin. */
export type Outcome = "passed" | "refused";

const NOTHING: Fields = { all: [], kept: [], kinds: [] };

export class Exchanges {
  readonly #url: URL;
  readonly #origin: SiteOrigin;
  readonly #coverage: Coverage;
  /** Each request has a connection of its own: one that is kept may end just when it is used again. */
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

  /** Asks for a path of a deployment. */
  async exchange(deployment: Deployment, asked: AskedPath, choices: Choices): Promise<Outcome> {
    const method = choices.pick(["GET", "GET", "GET", "HEAD"]);
    const outcome = await this.#exchange(method, deployment, asked, choices);
    const isPresent = deployment.has(asked.path);
    if (isPresent && outcome === "passed") this.#coverage.count("present: passed");
    if (!isPresent && outcome === "refused") this.#coverage.count("absent: refused");
    return outcome;
  }

  /** Asks with a method that is not guarded. */
  async post(deployment: Deployment, asked: AskedPath, choices: Choices): Promise<void> {
    const outcome = await this.#exchange("POST", deployment, asked, choices);
    if (outcome === "refused") throw new Error(`expected POST ${asked.sent} to pass`);
    this.#coverage.count("method: not guarded");
  }

  /** Asks, and is gone as soon as it is time to. */
  async leave(deployment: Deployment, asked: AskedPath, isTime: Promise<void>): Promise<void> {
    const number = this.#nextNumber();
    // The worker may not have noticed, and ask the origin.
    this.#origin.awaits(number, { status: 200, fields: NOTHING, isCut: false });
    const { host, hostname, port } = this.#url;
    const headers = ["Host", host, NUMBER, number, "x-deployment", deployment.name];
    const outgoing = request({ hostname, port, path: asked.sent, headers, agent: this.#agent });
    const answered = once(outgoing, "response");
    outgoing.end();
    const isAnswered = await Promise.race([isTime.then(() => false), answered.then(() => true)]);
    if (isAnswered) throw new Error(`expected ${asked.sent} to wait for a filter`);
    answered.catch(() => {});
    outgoing.destroy();
    this.#coverage.count("client: gone");
  }

  #nextNumber(): string {
    this.#count += 1;
    return `${this.#count}`;
  }

  async #exchange(
    method: string,
    deployment: Deployment,
    asked: AskedPath,
    choices: Choices,
  ): Promise<Outcome> {
    const number = this.#nextNumber();
    const sent = makeFields(choices);
    const answer = this.#answerTo(method, deployment.has(asked.path), choices);
    for (const kind of [...sent.kinds, ...answer.fields.kinds]) this.#coverage.count(kind);
    this.#origin.awaits(number, answer);
    const headers = [NUMBER, number, "x-deployment", deployment.name, ...sent.all.flat()];
    const question = { method, path: asked.sent, headers, agent: this.#agent };
    const asking = ask(this.#url, question);
    const reply = answer.isCut ? await asking.catch(() => undefined) : await asking;
    const arrival = this.#origin.arrived(number);
    try {
      return check(method, asked, sent, answer, arrival, reply);
    } catch (cause) {
      const what = `${method} ${asked.sent} with ${JSON.stringify(headers)}`;
      throw new Error(`${(cause as Error).message}\n${what}`, { cause });
    }
  }

  #answerTo(method: string, isPresent: boolean, choices: Choices): Answer {
    const fields = makeFields(choices);
    const plain = { status: isPresent ? 200 : 404, fields, isCut: false };
    if (!isPresent || choices.chance(0.85)) return plain;
    // An answer to HEAD is whole before it can be cut.
    const cut = method === "HEAD" ? [] : ["origin: cut"];
    const kind = choices.pick(["origin: error", "origin: redirect", ...cut]);
    this.#coverage.count(kind);
    if (kind === "origin: cut") return { ...plain, isCut: true };
    return { ...plain, status: kind === "origin: error" ? 500 : 302 };
  }
}

function check(
  method: string,
  { path }: AskedPath,
  sent: Fields,
  answer: Answer,
  arrival: Arrival | undefined,
  reply: Reply | undefined,
): Outcome {
  if (reply !== undefined) {
    checkFields(pairsOf(reply.rawHeaders), arrival === undefined ? NOTHING : answer.fields);
  }
  if (arrival === undefined) {
    if (reply?.status === 404 && !(ANSWERED in reply.headers)) return "refused";
    throw new Error(`expected a refusal, or that it arrives; found ${reply?.status}`);
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
