// A host in its own process: `fleet-process.mjs JOB`, as JSON. A job may shift the clock of the process. Prints a line of
// JSON for each event.
import { channel } from "node:diagnostics_channel";
import { setTimeout as sleep } from "node:timers/promises";
import { createClient } from "@redis/client";

/** @type {import("./fleet-process.js").FleetJob} */
const { url, shift, report, leases } = JSON.parse(process.argv[2] ?? "");

globalThis.Date = new Proxy(Date, {
  construct: (real, args) =>
    Reflect.construct(real, args.length === 0 ? [real.now() + shift] : args),
  get: (real, name) => (name === "now" ? () => real.now() + shift : Reflect.get(real, name)),
});

// After the clock was shifted.
const { fillLease, reportResidency } = await import("../../dist/index.js");

const print = (/** @type {import("./fleet-process.js").FleetEvent} */ event) =>
  process.stdout.write(`${JSON.stringify(event)}\n`);
const client = await createClient({ url })
  .on("error", () => {})
  .connect();

if (report !== undefined) {
  const digests = new Set(report.digests);
  const cache = {
    directory: "/nowhere",
    entries: async () => [...digests].map((digest) => ({ digest })),
    has: async (/** @type {string} */ _, /** @type {{ digest: string }} */ { digest }) =>
      digests.has(digest),
    stats: async () => ({ bytes: 0, totals: { hits: 0, misses: 0 } }),
  };
  const { host, ttl } = report;
  await reportResidency(/** @type {any} */ (cache), { client, host, ttl, interval: 10 });
  print({ reported: host });
  process.stdin.on("data", (digest) => {
    digests.add(`${digest}`.trim());
    const event = { directory: "/nowhere", digest: `${digest}`.trim() };
    channel("hedgerow:cache:fill").publish(event);
  });
}

if (leases !== undefined) {
  const { identity, count, hold, ...options } = leases;
  const take = async () => {
    const { reason, release } = await fillLease(identity, { client, ...options });
    // Counted by the engine, whose order of commands is the truth.
    const holders = await client.incr("holders");
    print({ reason, holders });
    await sleep(hold);
    await client.decr("holders");
    await release();
  };
  await Promise.all(Array.from({ length: count }, take));
  client.destroy();
}
