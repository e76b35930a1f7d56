/**
 * Stripping never changes where a body ends: behind every proxy, the origin receives exactly the requests that were
 * sent, and none that a client hid in a body.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { preset } from "hedgerow";
import { describe, expect, test } from "vitest";
import { closed, listening } from "../../support/http/listen.js";
import { trials } from "../../support/trials.js";
import { PROXIES, type Running, type Start } from "./proxies.js";
import { type Logged, strictOrigin } from "./strict-origin.js";

const RULES = [...preset("hop-by-hop"), "x-internal-*"];

const METHODS = ["GET", "HEAD", "DELETE", "OPTIONS", "POST", "PUT"];

/** A body that a server reads as a request if it is not framed. */
const HIDDEN = "GET /admin HTTP/1.1\r\nHost: a\r\nX-Internal-User: root\r\n\r\n";

const LENGTH = `Content-Length: ${HIDDEN.length}`;
const CHUNKS = `${HIDDEN.length.toString(16)}\r\n${HIDDEN}\r\n0\r\n\r\n`;

const BODIES = {
  none: { fields: [], body: "" },
  length: { fields: [LENGTH], body: HIDDEN },
  chunked: { fields: ["Transfer-Encoding: chunked"], body: CHUNKS },
  both: { fields: [LENGTH, "transfer-encoding: chunked"], body: CHUNKS },
};
type BodyKind = keyof typeof BODIES;

/** The fields of every request, except its framing. */
const FIELDS = [
  ...["Host: origin.example", "X-Internal-User: forged", "X-Hop: 1", "X-Kept: 1", "TE: trailers"],
  ...["Cookie: a=1", "Authorization: Bearer a", "X-Forwarded-For: 192.0.2.1", "Forwarded: for=b"],
];

/** Fields that senders must not nominate, in addition to those that frame the body. */
const FOR_ALL = ["host", "cookie", "authorization", "x-forwarded-for", "forwarded"];

const OPTIONS = [
  ...FOR_ALL,
  "content-length",
  "transfer-encoding",
  "te",
  "x-hop",
  "x-internal-user",
];

/** Ways to nominate a field. The last one is invalid, and nominates nothing. */
const WRITINGS: readonly ((option: string) => string[])[] = [
  (option) => [`Connection: ${option}`],
  (option) => [`CONNECTION:${option.toUpperCase()}`],
  (option) => [`connection: keep-alive,, ${option[0]!.toUpperCase()}${option.slice(1)}\t,`],
  (option) => ["Connection: keep-alive", `Connection: ${option}`],
  (option) => [`Connection: ${option}, x-hop`, "Connection: close"],
  (option) => [`Connection: ${option};q=1, close`],
];

/** Time for the origin to read data in flight after its proxy has stopped, in milliseconds. */
const GRACE = 100;

interface Exchange {
  readonly id: number;
  readonly method: string;
  readonly kind: BodyKind;
  readonly option: string;
  readonly connection: readonly string[];
  /** Whether the nomination must be refused. */
  readonly isForbidden: boolean;
}

function allExchanges(): Exchange[] {
  const exchanges: Exchange[] = [];
  for (const method of METHODS) {
    for (const kind of Object.keys(BODIES) as BodyKind[]) {
      const framing = BODIES[kind].fields.map((field) => field.split(":")[0]!.toLowerCase());
      const forbidden = new Set([...FOR_ALL, ...framing]);
      for (const option of OPTIONS) {
        for (const write of WRITINGS) {
          const isForbidden = forbidden.has(option) && write !== WRITINGS.at(-1);
          const connection = write(option);
          exchanges.push({ id: exchanges.length, method, kind, option, connection, isForbidden });
        }
      }
    }
  }
  return exchanges;
}

const EVERY = allExchanges();

/** `npm test` runs every STEP-th exchange, with a different offset for each proxy. */
const STEP = trials({ few: 13, all: 1 });

/** Sends an exchange on a new connection. Returns the status of the response; 0 if there is none. */
async function statusOf(url: URL, { id, method, kind, connection }: Exchange): Promise<number> {
  const socket = connect(Number(url.port), url.hostname);
  const { fields, body } = BODIES[kind];
  const head = [`${method} /public/${id} HTTP/1.1`, ...FIELDS, ...connection, ...fields];
  socket.write(`${head.join("\r\n")}\r\n\r\n${body}`, "latin1");
  let answer = "";
  socket.on("data", (bytes) => {
    answer += bytes;
    if (answer.includes("\r\n\r\n")) socket.destroy();
  });
  socket.on("error", () => socket.destroy());
  socket.on("end", () => socket.destroy());
  await once(socket, "close");
  return Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);
}

/** Sends exchanges. Returns the statuses and the requests that the origin read. */
async function sendAll(start: Start, rules: readonly string[], exchanges: readonly Exchange[]) {
  const log: Logged[] = [];
  const origin = strictOrigin(log);
  const proxy: Running = await start(rules, await listening(origin));
  const statuses: number[] = [];
  const sockets = new Set<Socket>();
  origin.on("connection", (socket) => sockets.add(socket));
  for (const exchange of exchanges) statuses.push(await statusOf(proxy.url, exchange));
  await proxy.close();
  // Let data in flight arrive. Clients keep some connections open.
  await setTimeout(GRACE);
  for (const socket of sockets) socket.destroy();
  await closed(origin);
  return { statuses, log };
}

const fieldOf = ({ fields }: Logged, wanted: string) =>
  fields.find(([name]) => name === wanted)?.[1];

/**
 * Exchanges that proxies frame wrongly even without stripping, as a test below shows: `http-proxy` sends
 * `Content-Length: 0` with a body, and `express-http-proxy` sends both a length and `Transfer-Encoding`.
 */
const WEAKNESSES: Readonly<Record<string, (exchange: Exchange) => boolean>> = {
  "http-proxy": hidesChunks,
  "http-proxy-middleware": hidesChunks,
  "express-http-proxy": ({ kind }) => kind === "chunked",
};

function hidesChunks({ method, kind }: Exchange): boolean {
  return (method === "DELETE" || method === "OPTIONS") && kind === "chunked";
}

const isWeak = (name: string, exchange: Exchange) => WEAKNESSES[name]?.(exchange) ?? false;

/** Some clients send no body with these methods. */
const losesBody = (name: string, { method }: Exchange) =>
  /fetch|fastify/.test(name) && (method === "GET" || method === "HEAD");

/** Returns whether the adapter refuses the exchange. undici does not pass `Transfer-Encoding` to it. */
const isRefused = (name: string, { isForbidden, option, kind }: Exchange) =>
  // workerd reads the chunks and drops the length.
  (kind === "both" && !name.includes("workerd")) ||
  (isForbidden && !(name === "hedgerow/undici" && option === "transfer-encoding"));

describe.each(Object.entries(PROXIES))("%s", (name, start) => {
  test("the origin receives exactly the requests that were sent", async () => {
    const offset = Object.keys(PROXIES).indexOf(name) % STEP;
    const exchanges = EVERY.filter(
      (exchange, index) => index % STEP === offset && !isWeak(name, exchange),
    );
    const { statuses, log } = await sendAll(start, RULES, exchanges);

    for (const { line, fields } of log) {
      expect(line).toMatch(/^[A-Z]+ \/public\/\d+ HTTP\/1\.1$/);
      expect(fields.filter(([field]) => field.startsWith("x-internal-"))).toEqual([]);
    }
    for (const [index, exchange] of exchanges.entries()) {
      const about = `${JSON.stringify(exchange)}: ${statuses[index]}`;
      const arrived = log.filter(({ line }) => line.split(" ")[1] === `/public/${exchange.id}`);
      if (isRefused(name, exchange)) {
        expect([statuses[index], arrived], about).toEqual([400, []]);
        continue;
      }
      expect(statuses[index], about).toBe(200);
      expect(arrived.length, about).toBe(1);
      const [request] = arrived;
      const isSent = exchange.kind !== "none" && !losesBody(name, exchange);
      expect(request!.body, about).toBe(isSent ? HIDDEN : "");
      expect(fieldOf(request!, "x-kept"), about).toBe("1");
    }
  });
});

test.each(Object.keys(WEAKNESSES))(
  "%s frames some bodies wrongly even without stripping",
  async (name) => {
    const weak = EVERY.filter((each) => isWeak(name, each) && each.option === "x-hop").slice(0, 6);
    for (const rules of [RULES, ["x-unused"]]) {
      const { log } = await sendAll(PROXIES[name]!, rules, weak);
      expect(log.map(({ line }) => line).join()).toMatch(/malformed|GET \/admin/);
    }
  },
);
