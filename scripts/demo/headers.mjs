// Sends realistic requests through an edge worker that strips internal headers, to a plain origin.
import http from "node:http";

import { HeaderStripper } from "hedgerow";
import { measure, medians } from "../../bench/harness/measure.mjs";
import { methods } from "../../bench/suites/headers/methods.mjs";
import { internalNames, requests } from "../lib/corpus.mjs";
import { StepError, step } from "../lib/run.mjs";
import { microseconds, printTable } from "../lib/table.mjs";
import { startWorker } from "../lib/worker.mjs";

const CONCURRENCY = 16;
const HOST = "127.0.0.1";

/** Fields of one connection or message, which a client cannot choose freely. */
const NOT_SENT = new Set(["connection", "content-length", "expect", "host", "te"]);
/** Fields that workerd replaces in outgoing requests. */
const OWNED_BY_WORKERD = new Set(["accept-encoding", "cf-connecting-ip", "cf-worker", "host"]);

/** @typedef {[name: string, value: string][]} Fields */

export async function demonstrateHeaders() {
  const internal = new Set(internalNames());
  const sent = requests("real").map(({ names }, number) =>
    names
      .filter((name) => !NOT_SENT.has(name))
      .map((name) => /** @type {[string, string]} */ ([name, `${number}-${name}`])),
  );
  const leaking = /** @type {Fields} */ ([...internal].map((name) => [name, "from-the-origin"]));
  /** @type {Fields[]} */
  const arrived = [];
  const origin = await startOrigin(arrived, leaking);
  const { worker, url } = await startWorker("examples/worker/src/index.ts", {
    ORIGIN: `http://${HOST}:${portOf(origin)}`,
    INTERNAL_HEADERS: [...internal],
    PATHS: sent.map((_, number) => `/${number}`),
  });
  try {
    step(`headers: sending ${sent.length} realistic requests through a worker in Miniflare`);
    const start = performance.now();
    const answers = await sendAll(url, sent);
    const seconds = (performance.now() - start) / 1000;
    step("headers: timing strip() alone, against a loop of delete()");
    const isInternal = (/** @type {string} */ name) => internal.has(name);
    const leakedIn = count(arrived, isInternal);
    const leakedOut = count(answers, isInternal);
    const altered = alteredCount(sent, arrived, internal);
    printTable([
      ["internal headers sent by clients", count(sent, isInternal)],
      ["  that reached the origin", leakedIn],
      ["internal headers sent by the origin", leaking.length * sent.length],
      ["  that reached clients", leakedOut],
      ["other headers sent by clients", count(sent, (name) => !isInternal(name))],
      ["  that were altered", altered],
      ["requests per second", Math.round(sent.length / seconds)],
      ...(await strippingTimes()),
    ]);
    if (leakedIn + leakedOut + altered > 0) {
      throw new StepError("expected every internal header stripped and no other altered");
    }
  } finally {
    await worker.dispose();
    origin.close();
  }
}

/**
 * Starts an HTTP server that records each request by the number in its path and leaks internal headers.
 *
 * @param {Fields[]} arrived
 * @param {Fields} leaking
 * @returns {Promise<http.Server>}
 */
function startOrigin(arrived, leaking) {
  const server = http.createServer((request, response) => {
    arrived[Number(request.url?.slice(1))] = fieldsOf(request.rawHeaders);
    response.writeHead(200, ["content-type", "text/plain", ...leaking.flat()]);
    response.end("hello from the origin\n");
  });
  return new Promise((resolve) => server.listen(0, HOST, () => resolve(server)));
}

/** @param {http.Server} server */
function portOf(server) {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

/** @param {string[]} raw */
function fieldsOf(raw) {
  /** @type {Fields} */
  const fields = [];
  for (let index = 0; index < raw.length; index += 2) {
    fields.push([raw[index]?.toLowerCase() ?? "", raw[index + 1] ?? ""]);
  }
  return fields;
}

/**
 * Sends all requests with bounded concurrency and returns the fields of the responses.
 *
 * @param {URL} url
 * @param {Fields[]} sent
 */
async function sendAll(url, sent) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  const answers = await Promise.all(sent.map((fields, number) => send(url, agent, number, fields)));
  agent.destroy();
  return answers;
}

/**
 * @param {URL} url
 * @param {http.Agent} agent
 * @param {number} number
 * @param {Fields} fields
 * @returns {Promise<Fields>}
 */
function send(url, agent, number, fields) {
  return new Promise((resolve, reject) => {
    const headers = ["host", url.host, ...fields.flat()];
    const request = http.get(url, { agent, path: `/${number}`, headers }, (response) => {
      if (response.statusCode !== 200)
        reject(new Error(`request ${number}: ${response.statusCode}`));
      response.on("end", () => resolve(fieldsOf(response.rawHeaders))).resume();
    });
    request.on("error", reject);
  });
}

/** @param {Fields[]} messages @param {(name: string) => boolean} picks */
function count(messages, picks) {
  return messages.flat().filter(([name]) => picks(name)).length;
}

/**
 * Counts the public fields that are missing, changed or new at the origin.
 *
 * @param {Fields[]} sent
 * @param {Fields[]} arrived
 * @param {Set<string>} internal
 */
function alteredCount(sent, arrived, internal) {
  const comparable = (/** @type {Fields} */ fields) =>
    fields
      .filter(([name]) => !internal.has(name) && !OWNED_BY_WORKERD.has(name))
      .map((field) => field.join(": "));
  return sent.reduce((altered, fields, number) => {
    const before = new Set(comparable(fields));
    const after = new Set(comparable(arrived[number] ?? []));
    return altered + difference(before, after) + difference(after, before);
  }, 0);
}

/** @returns {Promise<[string, string][]>} */
async function strippingTimes() {
  const rules = internalNames();
  const stripper = new HeaderStripper(rules);
  const { headers } = methods(rules, stripper, stripper);
  const compared = ["hedgerow", "delete-loop"].flatMap((wanted) =>
    headers.filter(({ name }) => name === wanted),
  );
  const [ours = 0, naive = 0] = medians(await measure(compared, requests("real"), 10));
  return [
    ["strip(headers), per request in Node", microseconds(ours)],
    ["  headers.delete() in a loop", microseconds(naive)],
    ["  speed-up", `${(naive / ours).toFixed(1)} ×`],
  ];
}

/** Counts the members of `a` that are not in `b`. @param {Set<string>} a @param {Set<string>} b */
const difference = (a, b) => [...a].filter((member) => !b.has(member)).length;
