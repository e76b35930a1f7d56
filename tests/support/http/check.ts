/**
 * Checks adapters on random exchanges: requests and responses arrive as they were sent,
 * without the fields that a naive loop over the rules finds.
 */
import assert from "node:assert/strict";
import { Agent } from "node:http";
import { Oracle } from "../../../js/edge/test/support/oracle.js";
import fc from "../fast-check.js";
import { minutes, trials } from "../trials.js";
import { send, sentFields } from "./client.js";
import { contentOf, digestOf } from "./content.js";
import type { Exchange, Field, Message } from "./exchange.js";
import { joined, without } from "./fields.js";
import { exchangesFor } from "./generate.js";
import { answerFields, Origin } from "./origin.js";
import { listOf, RULE_SETS, type RuleSet, type Rules } from "./rule-sets.js";

/** The seed of the generated exchanges. */
export const SEED = 20_261_122;

/** Number of exchanges for each adapter, and of concurrent ones. */
export const EXCHANGES = trials({ few: 150, all: 4_000 });
export const BATCH = trials({ few: 10, all: 50 });

/** The limit of {@link checkExchanges}: all exchanges take up to half a minute. */
export const LIMIT = minutes({ all: 3 });

/** The title of {@link checkExchanges}. */
export const TITLE = `${EXCHANGES.toLocaleString("en")} random exchanges lose exactly the fields that the rules match (seed ${SEED})`;

/** A server, or a client, that strips by one set of rules. */
export interface Running {
  /** Sends an exchange with `prefix` in front of its path. */
  exchange(exchange: Exchange, prefix: string): Promise<Message>;
  close(): Promise<unknown>;
}

/** How to run an adapter, and how its platform changes messages. */
export interface Subject {
  start(rules: RuleSet, origin: Origin, set: number): Promise<Running>;
  /** Whether names keep their case, and fields their order and separate lines. */
  exact: { requests: boolean; responses: boolean };
  /** Whether values keep bytes outside ASCII. */
  latin1: { requests: boolean; responses: boolean };
  /** Fields that the platform sets or removes, in lower case. */
  free: { requests: readonly string[]; responses: readonly string[] };
  /** Whether `Connection` reaches applications. */
  nominates: boolean;
  /** Whether fields without a value are lost. */
  losesEmpty?: boolean;
}

/** Fields that all servers set themselves. */
export const FRAMING = ["connection", "keep-alive", "date", "content-length", "transfer-encoding"];

/** Returns a running subject for the server at `url`. */
export function served(url: URL, close: () => Promise<unknown>): Running {
  // Closes idle connections after two seconds: workerd does it after five, perhaps just as one is used again.
  const agent = new Agent({ keepAlive: true, maxSockets: 16, timeout: 2000 });
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

/** Counts of stripped and kept field lines. */
interface Counts {
  exchanges: number;
  stripped: number;
  kept: number;
}

/**
 * Checks {@link EXCHANGES} in concurrent batches over persistent connections. Throws the first
 * failure, which is the same in every run.
 */
export async function checkExchanges(subject: Subject): Promise<void> {
  const sets = RULE_SETS.filter(
    (set) => subject.nominates || !listOf(set.requests).includes("connection"),
  );
  const origin = new Origin();
  const running = await Promise.all(sets.map((set, at) => subject.start(set, origin, at)));
  const counts: Counts = { exchanges: 0, stripped: 0, kept: 0 };

  async function check(at: number, exchange: Exchange): Promise<void> {
    const prefix = origin.awaits(exchange);
    try {
      const returned = await running[at]!.exchange(exchange, prefix);
      await compare(subject, sets[at]!, prefix, exchange, origin.arrived(prefix), returned, counts);
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
    // Shrinking a whole batch takes too long; the message names the exchange.
    await fc.assert(property, { seed: SEED, numRuns: EXCHANGES / BATCH, endOnFailure: true });
  } finally {
    await Promise.all(running.map((each) => each.close()));
  }
  assert.equal(counts.exchanges, EXCHANGES);
  const min = Math.min(counts.stripped, counts.kept);
  assert.ok(min > EXCHANGES, `expected many stripped and many kept fields, found ${min}`);
}

/** Returns an exchange whose fields all have values. */
export function withoutEmpty({ fields, answer, ...exchange }: Exchange): Exchange {
  const filled = (all: readonly Field[]) =>
    all.map(([name, value]): Field => [name, value === "" ? "0" : value]);
  return {
    ...exchange,
    fields: filled(fields),
    answer: { ...answer, fields: filled(answer.fields) },
  };
}

/** Returns the naive implementation of rules. */
export function oracleOf(rules: Rules): Oracle {
  return new Oracle(listOf(rules), { mode: "keep" in rules ? "keep" : "strip" });
}

async function compare(
  { exact, free }: Subject,
  set: RuleSet,
  prefix: string,
  exchange: Exchange,
  arrived: Message,
  returned: Message,
  counts: Counts,
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
    const oracle = oracleOf(rules);
    // Nominations of a response that include a field for all recipients are ignored.
    const stays = oracle.strip(sent) ?? sent.filter(([name]) => !oracle.strips(name));
    counts.stripped += sent.length - stays.length;
    counts.kept += stays.length;
    const form = isExact ? (all: readonly Field[]) => all : joined;
    const compared = (all: readonly Field[]) => form(without(all, new Set(names)));
    assert.deepEqual(compared(fields), compared(stays));
  }
  counts.exchanges += 1;
}
