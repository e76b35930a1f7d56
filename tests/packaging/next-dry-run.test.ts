/** Dry runs of `hedgerow/next` on random exchanges, with the real `next/server`, without an app. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import fc from "../support/fast-check.js";
import { SEED } from "../support/http/check.js";
import { contentOf } from "../support/http/content.js";
import type { Exchange } from "../support/http/exchange.js";
import { exchangesFor } from "../support/http/generate.js";
import { answerFields } from "../support/http/origin.js";
import { exists } from "../support/http/paths.js";
import { RULE_SETS } from "../support/http/rule-sets.js";
import { minutes, trials } from "../support/trials.js";
import { packageFolder } from "./support/project.js";

/** Imports a packed package, since only they can resolve Next.js. */
const importPacked = (name: string, file: string) =>
  import(pathToFileURL(join(packageFolder(name), file)).href);

const { hedgerow } = await importPacked("hedgerow", "dist/adapters/next.js");
const { NextRequest, NextResponse } = await importPacked("next", "server.js");

const EXCHANGES = trials({ few: 200, all: 10_000 });

type Way = "response" | "next" | "nothing";

/** Returns the application's own proxy: it answers, lets Next.js continue with fields, or does nothing. */
function proxyOf({ answer }: Exchange, way: Way) {
  return () => {
    if (way === "nothing") return undefined;
    const headers = new Headers(answerFields(answer) as [string, string][]);
    if (way === "next") return NextResponse.next({ headers });
    const { status, content } = answer;
    return new Response(content && (contentOf(content) as BodyInit), { status, headers });
  };
}

async function shown(response: Response): Promise<unknown> {
  return [response.status, [...response.headers], Buffer.from(await response.arrayBuffer()).length];
}

test(
  `${EXCHANGES.toLocaleString("en")} random exchanges are the same in a dry run as without an adapter, and its reports are those of enforcement (seed ${SEED})`,
  minutes({ all: 3 }),
  async () => {
    const counts = { strip: 0, refuse: 0 };
    const exchange = fc.nat({ max: RULE_SETS.length - 1 }).chain((at) =>
      fc.record({
        set: fc.constant(RULE_SETS[at]!),
        exchange: exchangesFor(RULE_SETS[at]!, { requests: false, responses: false }),
        way: fc.constantFrom<Way>("response", "next", "nothing"),
        isRefused: fc.nat({ max: 19 }).map((number) => number === 0),
      }),
    );
    const property = fc.asyncProperty(exchange, async ({ set, exchange, way, isRefused }) => {
      const proxy = proxyOf(exchange, way);
      const nominated = [...exchange.nominated, ...(isRefused ? ["host"] : [])];
      const fields = [
        ["host", "a"],
        ["connection", ["close", ...nominated].join()],
        ...exchange.fields,
      ];
      const request = () =>
        new NextRequest(`http://localhost${exchange.path}`, {
          method: exchange.method,
          headers: fields,
        });
      const run = async (dryRun: boolean) => {
        const reports: { kind: "strip" | "refuse"; direction: string }[] = [];
        let seen: unknown;
        const adapter = hedgerow(
          ...[
            {
              headers: set,
              paths: exists,
              dryRun,
              report: (report: never) => reports.push(report),
            },
          ],
          (given: unknown) => {
            seen = given;
            return proxy();
          },
        );
        const given = request();
        const before = [...given.headers];
        const response: Response = await adapter(given, {});
        return { reports, response, isSame: seen === given, before, after: [...given.headers] };
      };
      const bare = proxy() ?? NextResponse.next();
      const dry = await run(true);
      expect([dry.isSame, await shown(dry.response)]).toEqual([true, await shown(bare)]);
      expect(dry.after).toEqual(dry.before);
      const enforced = await run(false);
      const passes = dry.reports.every(({ kind }) => kind !== "refuse");
      const compared = dry.reports.filter(({ direction }) => passes || direction === "requests");
      expect(
        enforced.reports.filter(({ direction }) => passes || direction === "requests"),
      ).toEqual(compared);
      expect(enforced.response.status === 400 || enforced.response.status === 404).toBe(
        !passes || (way === "response" && [400, 404].includes(exchange.answer.status)),
      );
      for (const { kind } of dry.reports) counts[kind] += 1;
    });
    await fc.assert(property, { seed: SEED, numRuns: EXCHANGES, endOnFailure: true });
    expect(counts.strip).toBeGreaterThan(EXCHANGES / 2);
    expect(counts.refuse).toBeGreaterThan(EXCHANGES / 20);
  },
);
