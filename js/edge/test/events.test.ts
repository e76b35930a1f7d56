/** Events on channels of `node:diagnostics_channel`, and the metrics that `hedgerow/opentelemetry` makes of them. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Histogram } from "@opentelemetry/sdk-metrics";
import { buildPathFilter, PathFilterStore } from "hedgerow";
import { type Events, observeEdge } from "hedgerow/opentelemetry";
import { hedgerow } from "hedgerow/workers";
import { expect, onTestFinished, test } from "vitest";
import { makeMeter } from "../../snapshot/test/support/meter.js";

const NAMES = ["hedgerow:edge:message", "hedgerow:edge:report", "hedgerow:edge:load"] as const;

/** Subscribes to all channels until the test ends. Returns the events. */
function events() {
  const seen: [name: keyof Events, event: unknown][] = [];
  for (const name of NAMES) {
    const listener = (event: unknown) => void seen.push([name, event]);
    subscribe(name, listener);
    onTestFinished(() => {
      unsubscribe(name, listener);
    });
  }
  return seen;
}

/** A worker with internal fields in both directions, and one path. */
function worker(dryRun: boolean) {
  const answer = () => new Response("", { headers: { "x-internal-node": "a", "x-kept": "1" } });
  const options = {
    headers: ["x-internal-*", "connection"],
    paths: (path: string) => path === "/a",
  };
  return hedgerow({ ...options, dryRun }, { fetch: answer as never });
}

const secret = (path: string) =>
  new Request(`http://localhost${path}`, {
    headers: { "x-internal-secret": "s3cret", "x-internal-other": "1" },
  });

/** A request whose `Connection` nominates a field for all recipients. */
function nominating(): Request {
  const request = new Request("http://localhost/a");
  const headers = new Headers({ connection: "cookie", cookie: "a=1" });
  return Object.defineProperty(request, "headers", { value: headers });
}

/** Loads a filter, a missing one, a damaged one, and one whose loader throws an error of its own. */
async function loadAll(): Promise<void> {
  const load = (key: string) => {
    if (key === "found") return new Response(buildPathFilter(["/a"]));
    if (key === "missing") return new Response("", { status: 404 });
    if (key === "own") throw Object.assign(new Error("of a client"), { code: "/client/path" });
    return new Response("no filter");
  };
  const store = new PathFilterStore({ maxBytes: 1e6, load });
  for (const key of ["found", "missing", "missing", "damaged", "own"]) {
    await Promise.resolve(store.canExist(key, "/a")).catch(() => {});
  }
}

test("adapters publish each message and what they strip and refuse", async () => {
  const seen = events();
  await worker(false).fetch(secret("/a"));
  const of = { adapter: "hedgerow/workers", dryRun: false };
  const names = ["x-internal-other", "x-internal-secret"];
  expect(seen).toEqual([
    ["hedgerow:edge:message", { ...of, direction: "requests" }],
    ["hedgerow:edge:report", { ...of, kind: "strip", direction: "requests", names, count: 2 }],
    ["hedgerow:edge:message", { ...of, direction: "responses" }],
    [
      "hedgerow:edge:report",
      { ...of, kind: "strip", direction: "responses", names: ["x-internal-node"], count: 1 },
    ],
  ]);
  seen.length = 0;
  await worker(true).fetch(new Request("http://localhost/b"));
  expect(seen[1]).toEqual([
    "hedgerow:edge:report",
    { ...of, dryRun: true, kind: "refuse", direction: "requests", path: "/b", count: 1 },
  ]);
});

test("stores publish each load once", async () => {
  const seen = events();
  await loadAll();
  const loads = seen.map(([, event]) => event as Events["hedgerow:edge:load"]);
  expect(
    loads.map(({ key, error }) => [key, (error as { code?: string } | undefined)?.code]),
  ).toEqual([
    ["found", undefined],
    ["missing", "ERR_FILTER_RESPONSE"],
    ["damaged", "ERR_FILTER_FORMAT"],
    ["own", "/client/path"],
  ]);
  for (const { duration } of loads) expect(duration).toBeGreaterThanOrEqual(0);
});

test("a store publishes a load that times out as one failure, even if it ends later", async () => {
  const seen = events();
  let answer: (response: Response) => void = () => {};
  const load = () =>
    new Promise<Response>((resolve) => {
      answer = resolve;
    });
  const store = new PathFilterStore({ maxBytes: 1e6, load, timeout: 5 });
  const asked = [store.canExist("a", "/a"), store.canExist("a", "/b")];
  for (const each of asked) await expect(each).rejects.toThrow("were not loaded within 5 ms");
  answer(new Response(buildPathFilter(["/a"])));
  await new Promise((resolve) => setTimeout(resolve, 5));
  expect(seen).toHaveLength(1);
  expect(seen[0]![1]).toMatchObject({ key: "a", error: { code: "ERR_FILTER_TIMEOUT" } });
});

test("observeEdge counts messages, fields, refusals and loads, without any value of a client", async () => {
  const { meter, collect } = makeMeter();
  const stop = observeEdge(meter);
  onTestFinished(stop);
  for (const dryRun of [true, false]) {
    await worker(dryRun).fetch(secret("/a"));
    await worker(dryRun).fetch(secret("/s3cret-path"));
  }
  await worker(false).fetch(nominating());
  await loadAll();
  const metrics = await collect();
  const pointsOf = (name: string) =>
    metrics.get(name)!.dataPoints.map(({ attributes, value }) => [value, attributes]);
  const adapter = { "hedgerow.edge.adapter": "hedgerow/workers" };
  const [requests, responses] = ["requests", "responses"].map((direction) => ({
    ...adapter,
    "hedgerow.edge.direction": direction,
  }));
  const dry = { "hedgerow.edge.dry_run": true };
  const enforced = { "hedgerow.edge.dry_run": false };
  expect(pointsOf("hedgerow.edge.messages")).toEqual([
    [5, requests],
    [5, responses],
  ]);
  expect(pointsOf("hedgerow.edge.fields.stripped")).toEqual([
    [4, { ...requests, ...dry }],
    [2, { ...responses, ...dry }],
    [4, { ...requests, ...enforced }],
    [1, { ...responses, ...enforced }],
  ]);
  expect(pointsOf("hedgerow.edge.requests.refused")).toEqual([
    [1, { ...adapter, ...dry, "hedgerow.edge.reason": "path" }],
    [1, { ...adapter, ...enforced, "hedgerow.edge.reason": "path" }],
    [1, { ...adapter, ...enforced, "hedgerow.edge.reason": "connection" }],
  ]);
  expect(pointsOf("hedgerow.edge.filters.loaded")).toEqual([[1, {}]]);
  expect(pointsOf("hedgerow.edge.filters.failed")).toEqual([
    [1, { "error.type": "ERR_FILTER_RESPONSE" }],
    [1, { "error.type": "ERR_FILTER_FORMAT" }],
    [1, { "error.type": "_OTHER" }],
  ]);
  const durations = metrics.get("hedgerow.edge.filter.load.duration")!;
  expect(durations.descriptor.unit).toBe("s");
  expect((durations.dataPoints[0]!.value as Histogram).count).toBe(4);
  expect(JSON.stringify([...metrics.values()])).not.toMatch(/s3cret|x-internal|client/);

  stop();
  await worker(false).fetch(secret("/a"));
  expect((await collect()).get("hedgerow.edge.messages")!.dataPoints[0]!.value).toBe(5);
});

test.each([null, undefined])("observeEdge counts a load that fails with %s", async (reason) => {
  const { meter, collect } = makeMeter();
  onTestFinished(observeEdge(meter));
  const store = new PathFilterStore({ maxBytes: 1e6, load: () => Promise.reject(reason) });
  await expect(store.canExist("k", "/")).rejects.toBe(reason);
  const failed = (await collect()).get("hedgerow.edge.filters.failed")!;
  expect(failed.dataPoints.map(({ attributes }) => attributes)).toEqual([
    { "error.type": "_OTHER" },
  ]);
});

test("observeEdge refuses what is not a meter", () => {
  for (const meter of [undefined, null, {}, "meter", { createCounter() {} }]) {
    expect(() => observeEdge(meter as never)).toThrow("a meter of OpenTelemetry");
  }
});
