// Sends realistic requests through an edge worker that strips internal headers, to a plain origin.
import { HeaderStripper } from "hedgerow";
import { measure, medians } from "../../bench/harness/measure.mjs";
import { methods } from "../../bench/suites/headers/methods.mjs";
import { internalNames, requests } from "../lib/corpus.mjs";
import { microseconds, printTable } from "../lib/measured.mjs";
import { StepError, step } from "../lib/run.mjs";
import { startWorker } from "../lib/worker.mjs";
import { fieldsOf, sendAll, startOrigin } from "./edge.mjs";

/** @typedef {import("./edge.mjs").Fields} Fields */

/** Fields of one connection or message, which a client cannot choose freely. */
const NOT_SENT = new Set(["connection", "content-length", "expect", "host", "te"]);
/** Fields that workerd replaces in outgoing requests. */
const OWNED_BY_WORKERD = new Set(["accept-encoding", "cf-connecting-ip", "cf-worker", "host"]);

export async function demonstrateHeaders() {
  const rules = internalNames();
  const internal = new Set(rules);
  const sent = requests("real").map(({ names }, number) =>
    names
      .filter((name) => !NOT_SENT.has(name))
      .map((name) => /** @type {[string, string]} */ ([name, `${number}-${name}`])),
  );
  const leaking = rules.flatMap((name) => [name, "from-the-origin"]);
  const arrived = /** @type {Fields[]} */ ([]);
  const origin = await startOrigin((request, response) => {
    arrived[Number(request.url?.slice(1))] = fieldsOf(request);
    response.writeHead(200, leaking).end("hello from the origin\n");
  });
  const paths = sent.map((_, number) => `/${number}`);
  const { worker, url } = await startWorker("examples/worker/src/index.ts", {
    ...{ ORIGIN: origin.url, INTERNAL_HEADERS: rules, PATHS: paths },
  });
  try {
    step(`headers: sending ${sent.length} realistic requests through a worker in Miniflare`);
    const start = performance.now();
    const all = sent.map((fields, number) => ({ path: `/${number}`, fields }));
    const responses = await sendAll(url, all);
    const seconds = (performance.now() - start) / 1000;
    if (responses.some(({ status }) => status !== 200)) throw new StepError("expected status 200");

    const countInternal = (/** @type {Fields[]} */ messages) =>
      messages.flat().filter(([name]) => internal.has(name)).length;
    const isPublic = (/** @type {string} */ name) =>
      !internal.has(name) && !OWNED_BY_WORKERD.has(name);
    const leakedIn = countInternal(arrived);
    const leakedOut = countInternal(responses.map(({ fields }) => fields));
    const altered = sent.reduce((sum, fields, number) => {
      const before = linesOf(fields, isPublic);
      const after = linesOf(arrived[number] ?? [], isPublic);
      return sum + difference(before, after) + difference(after, before);
    }, 0);
    step("headers: timing strip() alone, against a loop of delete()");
    printTable([
      ["internal headers sent by clients", countInternal(sent)],
      ["  that reached the origin", leakedIn],
      ["internal headers sent by the origin", rules.length * sent.length],
      ["  that reached clients", leakedOut],
      ["other headers sent by clients", sent.flat().length - countInternal(sent)],
      ["  that were altered", altered],
      ["requests per second", Math.round(sent.length / seconds)],
      ...(await strippingTimes(rules)),
    ]);
    if (leakedIn + leakedOut + altered > 0) {
      throw new StepError("expected every internal header stripped and no other altered");
    }
  } finally {
    await worker.dispose();
    origin.close();
  }
}

/** @param {string[]} rules @returns {Promise<[string, string][]>} */
async function strippingTimes(rules) {
  const stripper = new HeaderStripper(rules);
  const { headers } = methods(rules, stripper, stripper, stripper);
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

/** @param {Fields} fields @param {(name: string) => boolean} picks */
const linesOf = (fields, picks) =>
  fields.filter(([name]) => picks(name)).map((field) => field.join(": "));

/** Counts the members of `a` that are not in `b`. @param {string[]} a @param {string[]} b */
const difference = (a, b) => a.filter((member) => !b.includes(member)).length;
