/**
 * The promise of every adapter, checked on random exchanges: what arrives is what was sent, and what
 * returns is what was answered, without the fields that a naive loop over the rules finds.
 */
import assert from "node:assert/strict";
import { Agent } from "node:http";
import fc from "fast-check";
import { Oracle } from "../../../js/edge/test/support/oracle.js";
import { trials } from "../trials.js";
import { send, sentFields } from "./client.js";
import { contentOf, digestOf } from "./content.js";
import type { Exchange, Field, Message } from "./exchange.js";
import { joined, without } from "./fields.js";
import { exchangesFor } from "./generate.js";
import { answerFields, Origin } from "./origin.js";
import { RULE_SETS, type RuleSet } from "./rule-sets.js";

/** What is generated, the same in every run. */
const SEED = 20_261_122;

/** How many exchanges each adapter is tried with, and how many of them run at a time. */
const EXCHANGES = trials({ few: 2_000, all: 10_000 });
const BATCH = 50;

/** What {@link checkExchanges} checks. */
export const PROMISE = `${EXCHANGES.toLocaleString("en")} random exchanges lose what the rules match, and nothing else (seed ${SEED})`;

/** A server, or a client, that strips by one set of rules. */
export interface Running {
  /** Carries out an exchange whose path begins with `prefix`. */
  exchange(exchange: Exchange, prefix: string): Promise<Message>;
  close(): Promise<unknown>;
}

/** How to run an adapter, and what its platform does to messages beside it. */
export interface Subject {
  start(rules: RuleSet, origin: Origin, set: number): Promise<Running>;
  /** Whether names keep their case, fields their order, and equal ones their lines. */
  exact: { requests: boolean; responses: boolean };
  /** Whether values keep all bytes, not only those of ASCII. */
  latin1: { requests: boolean; responses: boolean };
  /** Fields that the platform sets or removes by itself, in lower case. */
  free: { requests: readonly string[]; responses: readonly string[] };
  /** Whether `Connection` reaches applications. */
  nominates: boolean;
  /** Whether fields without a value are lost, so that none is sent. */
  losesEmpty?: boolean;
}

/** What all servers add, or choose by themselves. */
export const FRAMING = ["connection", "keep-alive", "date", "content-length", "transfer-encoding"];

/** A server of HTTP under `url`. */
export function served(url: URL, close: () => Promise<unknown>): Running {
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  return {
    exchange: (exchange, prefix) => {
      const path = url.pathname.slice(0, -1) + prefix + exchange.path;
      return send(exchange, url, path, agent);
    },
    close: () => {
      agent.destroy();
      return close();
    },
  };
}

/** How many field lines of each direction went and stayed, in all exchanges. */
interface Tally {
  exchanges: number;
  stripped: number;
  kept: number;
}

/**
 * Checks {@link EXCHANGES}, in batches that run in parallel over connections that are kept. The first
 * one that does not keep the promise is thrown, and is the same in the next run.
 */
export async function checkExchanges(subject: Subject): Promise<void> {
  const sets = RULE_SETS.filter((set) => subject.nominates || !set.requests.includes("connection"));
  const origin = new Origin();
  const running = await Promise.all(sets.map((set, at) => subject.start(set, origin, at)));
  const tally: Tally = { exchanges: 0, stripped: 0, kept: 0 };

  async function check(at: number, exchange: Exchange): Promise<void> {
    const prefix = origin.awaits(exchange);
    try {
      const returned = await running[at]!.exchange(exchange, prefix);
      await compare(subject, sets[at]!, prefix, exchange, origin.arrived(prefix), returned, tally);
    } catch (cause) {
      const of = `rules ${JSON.stringify(sets[at])}, exchange ${JSON.stringify(exchange)}`;
      throw new Error(`${(cause as Error).message}\nof ${of}`, { cause });
    }
  }

  const batches = fc.nat({ max: sets.length - 1 }).chain((at) => {
    const exchanges = fc.array(exchangesFor(sets[at]!, subject.latin1), {
      minLength: BATCH,
      maxLength: BATCH,
    });
    return fc.tuple(fc.constant(at), exchanges);
  });
  const property = fc.asyncProperty(batches, async ([at, exchanges]) => {
    const sent = subject.losesEmpty ? exchanges.map(withoutEmpty) : exchanges;
    await Promise.all(sent.map((exchange) => check(at, exchange)));
  });
  try {
    // To make a whole batch smaller takes too long; its message names the exchange.
    await fc.assert(property, { seed: SEED, numRuns: EXCHANGES / BATCH, endOnFailure: true });
  } finally {
    await Promise.all(running.map((each) => each.close()));
  }
  assert.equal(tally.exchanges, EXCHANGES);
  const least = Math.min(tally.stripped, tally.kept);
  assert.ok(least > EXCHANGES, `expected many fields that go, and many that stay, found ${least}`);
}

/** An exchange whose fields all have values. */
function withoutEmpty({ fields, answer, ...exchange }: Exchange): Exchange {
  const filled = (all: readonly Field[]) =>
    all.map(([name, value]): Field => [name, value === "" ? "0" : value]);
  return {
    ...exchange,
    fields: filled(fields),
    answer: { ...answer, fields: filled(answer.fields) },
  };
}

async function compare(
  { exact, free }: Subject,
  set: RuleSet,
  prefix: string,
  exchange: Exchange,
  arrived: Message,
  returned: Message,
  tally: Tally,
): Promise<void> {
  const { method, path, content, answer } = exchange;
  assert.equal(arrived.start, `${method} ${prefix}${path}`);
  assert.equal(returned.start, `${answer.status}`);
  assert.equal(arrived.digest, await digestOf(contentOf(content)));
  assert.equal(returned.digest, await digestOf(contentOf(answer.content)));

  const isOrdered = answer.setting === "list" || answer.setting === "pairs";
  const ways = [
    [sentFields(exchange), arrived, set.requests, free.requests, exact.requests],
    [answerFields(answer), returned, set.responses, free.responses, exact.responses && isOrdered],
  ] as const;
  for (const [sent, { fields }, rules, names, isExact] of ways) {
    const oracle = new Oracle(rules);
    // A response that nominates a field for all recipients nominates nothing.
    const stays = oracle.strip(sent) ?? sent.filter(([name]) => !oracle.matches(name));
    tally.stripped += sent.length - stays.length;
    tally.kept += stays.length;
    const form = isExact ? (all: readonly Field[]) => all : joined;
    const compared = (all: readonly Field[]) => form(without(all, new Set(names)));
    assert.deepEqual(compared(fields), compared(stays));
  }
  tally.exchanges += 1;
}
