/**
 * Checks dry runs on random exchanges: messages are the same as without an adapter, and reports say what an
 * enforcing adapter removes.
 */
import assert from "node:assert/strict";
import { normalizePath } from "hedgerow";
import type { AdapterReport } from "hedgerow/connect";
import fc from "../fast-check.js";
import { minutes } from "../trials.js";
import {
  BATCH,
  EXCHANGES,
  oracleOf,
  type Running,
  SEED,
  type Subject,
  served,
  withoutEmpty,
} from "./check.js";
import { sentFields } from "./client.js";
import type { Exchange, Field, Message } from "./exchange.js";
import { without } from "./fields.js";
import { exchangesFor } from "./generate.js";
import { answerFields, Origin } from "./origin.js";
import { exists } from "./paths.js";
import { listOf, RULE_SETS, type RuleSet } from "./rule-sets.js";

/** The limit of {@link checkDryRuns}, which sends each of ten thousand exchanges three times. */
export const DRY_RUN_LIMIT = minutes({ all: 5 });

/** The title of {@link checkDryRuns}. */
export const DRY_RUN_TITLE = `${EXCHANGES.toLocaleString("en")} random exchanges are the same in a dry run as without an adapter, and its reports are those of enforcement (seed ${SEED})`;

/** Without an adapter, with one in a dry run, and with one that enforces. */
export const MODES = ["bare", "dry", "enforcing"] as const;

export type Mode = (typeof MODES)[number];

/** A server or client that runs each mode. */
export interface RunningModes {
  modes: Record<Mode, Pick<Running, "exchange">>;
  /** Returns the reports since the last call. */
  takeReports(mode: Mode): Promise<AdapterReport[]>;
  close(): Promise<unknown>;
}

export interface DryRunSubject
  extends Pick<Subject, "latin1" | "free" | "nominates" | "losesEmpty"> {
  start(rules: RuleSet, origin: Origin): Promise<RunningModes>;
}

/** Returns a running subject for a server that runs each mode below a path of its name. */
export function servedModes(
  url: URL,
  takeReports: RunningModes["takeReports"],
  close: () => Promise<unknown>,
): RunningModes {
  const runs = MODES.map(
    (mode) => [mode, served(new URL(`${mode}/`, url), async () => {})] as const,
  );
  return {
    modes: Object.fromEntries(runs) as unknown as RunningModes["modes"],
    takeReports,
    async close() {
      await Promise.all(runs.map(([, running]) => running.close()));
      await close();
    },
  };
}

/** Checks as many exchanges for each adapter as enforcement is checked with, in the same batches. */
export async function checkDryRuns(subject: DryRunSubject): Promise<void> {
  const sets = RULE_SETS.filter(
    (set) => subject.nominates || !listOf(set.requests).includes("connection"),
  );
  const origin = new Origin();
  const running = await Promise.all(sets.map((set) => subject.start(set, origin)));
  const counts = { exchanges: 0, strip: 0, refuse: 0 };

  const batches = fc.nat({ max: sets.length - 1 }).chain((at) => {
    const exchange = fc
      .tuple(exchangesFor(sets[at]!, subject.latin1), fc.nat({ max: 19 }))
      .map(([exchange, kind]) => (subject.nominates && kind === 0 ? refused(exchange) : exchange));
    const exchanges = fc.array(exchange, { minLength: BATCH, maxLength: BATCH });
    return fc.tuple(fc.constant(at), exchanges);
  });
  const property = fc.asyncProperty(batches, async ([at, exchanges]) => {
    const { modes, takeReports } = running[at]!;
    const sent = subject.losesEmpty ? exchanges.map(withoutEmpty) : exchanges;
    const expected = await Promise.all(
      sent.map((exchange) => check(subject, sets[at]!, modes, origin, exchange)),
    );
    for (const mode of ["dry", "enforcing"] as const) {
      const reports = (await takeReports(mode)).flatMap((report) => comparable(subject, report));
      const wanted = expected.flatMap((each) => each[mode]);
      // The response to a refused `Connection` closes the connection, which a rule may strip.
      const isCompared = (text: string) => mode === "dry" || text !== CLOSED;
      assert.deepEqual(
        reports.filter(isCompared).sort(),
        wanted
          .map((report) => JSON.stringify(report))
          .filter(isCompared)
          .sort(),
      );
      for (const { kind } of wanted) counts[kind] += 1;
    }
    counts.exchanges += sent.length;
  });
  try {
    await fc.assert(property, { seed: SEED, numRuns: EXCHANGES / BATCH, endOnFailure: true });
  } finally {
    await Promise.all(running.map((each) => each.close()));
  }
  assert.equal(counts.exchanges, EXCHANGES);
  assert.ok(counts.strip > EXCHANGES, `expected many reports of fields, found ${counts.strip}`);
  assert.ok(counts.refuse > EXCHANGES / 10, `expected many refusals, found ${counts.refuse}`);
}

/** A report as it is compared. */
type Expected = Pick<AdapterReport, "kind" | "direction"> & { names?: string[]; path?: string };

/** Fields that the servers and clients of the tests set themselves, which an allow-list strips. */
const PLATFORM = ["content-type", "date", "keep-alive"];

const CLOSED = JSON.stringify({ kind: "strip", direction: "responses", names: ["connection"] });

/** Returns an exchange whose `Connection` nominates a field for all recipients. */
function refused(exchange: Exchange): Exchange {
  return { ...exchange, nominated: [...exchange.nominated, "Host"] };
}

/** Sends an exchange in each mode. Compares the messages, and returns the expected reports. */
async function check(
  subject: DryRunSubject,
  set: RuleSet,
  modes: RunningModes["modes"],
  origin: Origin,
  exchange: Exchange,
): Promise<Record<"dry" | "enforcing", Expected[]>> {
  const seen: Partial<Record<Mode, { arrived: Message | undefined; returned: Message }>> = {};
  const reports = { dry: [] as Expected[], enforcing: [] as Expected[] };
  for (const mode of MODES) {
    const prefix = origin.awaits(exchange);
    const returned = await modes[mode].exchange(exchange, prefix);
    const arrived = origin.taken(prefix);
    const start = arrived?.start.replace(prefix, "");
    seen[mode] = {
      arrived: arrived && { ...arrived, start: start! },
      returned: { ...returned, fields: without(returned.fields, new Set(["date"])) },
    };
    if (mode === "bare") continue;
    const { request, isRefused } = requestReports(subject, set, exchange, mode, prefix);
    const passes = mode === "dry" || !isRefused;
    reports[mode] = passes ? [...request, ...responseReports(subject, set, exchange)] : request;
    const about = `${mode}, rules ${JSON.stringify(set)}, exchange ${JSON.stringify(exchange)}`;
    assert.equal(arrived !== undefined, passes, about);
    if (mode === "dry") assert.deepEqual(seen.dry, seen.bare, about);
  }
  return reports;
}

/** Returns the reports of a request, and whether enforcing refuses it. */
function requestReports(
  { free }: DryRunSubject,
  set: RuleSet,
  exchange: Exchange,
  mode: Mode,
  prefix: string,
): { request: Expected[]; isRefused: boolean } {
  const direction = "requests";
  const sent = sentFields(exchange);
  const kept = oracleOf(set.requests).strip(sent);
  if (kept === undefined) {
    return { request: [{ kind: "refuse", direction, names: ["connection"] }], isRefused: true };
  }
  const request = stripReports(direction, sent, kept, free.requests);
  const path = normalizePath(`/${mode}${prefix}${exchange.path}`);
  const isRefused = ["GET", "HEAD"].includes(exchange.method) && !exists(path);
  if (isRefused) request.push({ kind: "refuse", direction, path });
  return { request, isRefused };
}

function responseReports({ free }: DryRunSubject, set: RuleSet, { answer }: Exchange): Expected[] {
  const sent = answerFields(answer);
  const oracle = oracleOf(set.responses);
  const kept = oracle.strip(sent) ?? sent.filter(([name]) => !oracle.strips(name));
  return stripReports("responses", sent, kept, free.responses);
}

function stripReports(
  direction: AdapterReport["direction"],
  sent: readonly Field[],
  kept: readonly Field[],
  free: readonly string[],
): Expected[] {
  const stays = new Set(kept.map(([name]) => name.toLowerCase()));
  const lost = without(sent, new Set([...stays, ...free, ...PLATFORM])).map(([name]) =>
    name.toLowerCase(),
  );
  return lost.length === 0 ? [] : [{ kind: "strip", direction, names: [...new Set(lost)].sort() }];
}

/** Returns the text of a report, without fields that the platform sets; nothing if no others are left. */
function comparable({ free }: DryRunSubject, report: AdapterReport): string[] {
  const { kind, direction, names, count } = report;
  if (kind === "refuse") {
    assert.equal(count, 1);
    const { path } = report;
    return [
      JSON.stringify(path === undefined ? { kind, direction, names } : { kind, direction, path }),
    ];
  }
  assert.ok(count >= names.length);
  assert.equal(new Set(names).size, names.length);
  const set = [...free[direction], ...PLATFORM];
  const left = names.filter((name) => !set.includes(name)).sort();
  return left.length === 0 ? [] : [JSON.stringify({ kind, direction, names: left })];
}
