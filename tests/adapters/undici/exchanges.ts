/** Random exchanges of a client of undici 7 or 8. */
import { createServer } from "node:http";
import { Readable } from "node:stream";
import { type AdapterReport, hedgerow } from "hedgerow/undici";
import type { Dispatcher } from "undici";
import { FRAMING, type Subject } from "../../support/http/check.js";
import { type DryRunSubject, MODES, type Mode } from "../../support/http/check-dry-run.js";
import { contentOf, digestOf, piecesOf } from "../../support/http/content.js";
import type { Exchange, Field, Message } from "../../support/http/exchange.js";
import { groupsOf, pairsOf } from "../../support/http/fields.js";
import { closed, listening } from "../../support/http/listen.js";
import { exists } from "../../support/http/paths.js";

/** The part of undici used here. */
export interface Undici {
  Agent: new (options: { connections: number }) => Dispatcher;
}

type Headers = NonNullable<Dispatcher.RequestOptions["headers"]>;

/** Returns the fields in one of the forms that undici accepts, chosen by the length of the path. */
function headersOf({ fields, path }: Exchange): Headers {
  const forms: (() => Headers)[] = [
    () => fields.flat(),
    () => groupsOf(fields),
    () => new Map(Object.entries(groupsOf(fields))),
    () => fields.values() as Iterable<[string, string]>,
  ];
  return forms[path.length % forms.length]!();
}

/**
 * Returns a subject whose client strips; the origin does not.
 *
 * @param isExact whether a client with an interceptor can receive fields unchanged
 */
export function undiciSubject({ Agent }: Undici, isExact: boolean): Subject {
  return {
    // An object changes the order of names.
    exact: { requests: false, responses: isExact },
    // The second value of a repeated field is read as UTF-8.
    latin1: { requests: true, responses: isExact },
    free: { requests: [...FRAMING, "host"], responses: FRAMING },
    nominates: false,
    async start(rules, origin) {
      const server = createServer(origin.listener);
      const url = await listening(server);
      const agent = new Agent({ connections: 16 });
      const client = agent.compose(hedgerow({ headers: rules }));
      return {
        exchange: (exchange, prefix) => request(client, exchange, url.origin, prefix, isExact),
        close: async () => {
          await agent.destroy();
          await closed(server);
        },
      };
    },
  };
}

/** Returns a subject whose clients run each mode, with paths below its name. */
export function undiciDryRun({ Agent }: Undici, isExact: boolean): DryRunSubject {
  return {
    latin1: { requests: true, responses: isExact },
    free: { requests: [], responses: [] },
    nominates: false,
    async start(headers, origin) {
      const server = createServer(origin.listener);
      const url = await listening(server);
      const agent = new Agent({ connections: 16 });
      const reports: Record<Mode, AdapterReport[]> = { bare: [], dry: [], enforcing: [] };
      const clientOf = (mode: Mode) =>
        mode === "bare"
          ? agent
          : agent.compose(
              hedgerow({
                headers,
                paths: exists,
                dryRun: mode === "dry",
                report: (report) => void reports[mode].push(report),
              }),
            );
      const running = MODES.map((mode) => {
        const client = clientOf(mode);
        const exchange = (exchange: Exchange, prefix: string) =>
          request(client, exchange, url.origin, `/${mode}${prefix}`, isExact);
        return [mode, { exchange }];
      });
      return {
        modes: Object.fromEntries(running),
        takeReports: async (mode) => reports[mode].splice(0),
        close: async () => {
          await agent.destroy();
          await closed(server);
        },
      };
    },
  };
}

async function request(
  client: Dispatcher,
  exchange: Exchange,
  origin: string,
  prefix: string,
  isExact: boolean,
): Promise<Message> {
  const { method, path, content } = exchange;
  const { statusCode, headers, body } = await client.request({
    origin,
    path: prefix + path,
    method: method as Dispatcher.HttpMethod,
    headers: headersOf(exchange),
    body: content?.chunked ? Readable.from(piecesOf(content)) : content && contentOf(content),
    responseHeaders: isExact ? "raw" : null,
  });
  const fields = isExact
    ? pairsOf(headers as unknown as string[])
    : Object.entries(headers).flatMap(([name, values = []]) =>
        [values].flat().map((value): Field => [name, value]),
      );
  return { start: `${statusCode}`, fields, digest: await digestOf(body) };
}
