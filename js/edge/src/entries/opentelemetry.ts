/** `hedgerow/opentelemetry`: metrics of adapters and stores of filters. Imports only types from OpenTelemetry. */
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Attributes, Meter } from "@opentelemetry/api";

import { wrongType } from "../error.js";
import type { Events } from "../events.js";

export type { AdapterReport, RefusalReport, StripReport } from "../adapters/adapter.js";
export type { AdapterEvent, Events } from "../events.js";

/** Boundaries of the histogram, in seconds. */
const BOUNDARIES = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** The counters: their unit and description. */
const COUNTERS = {
  "hedgerow.edge.messages": [
    "{message}",
    "Requests that adapters received, responses they examined",
  ],
  "hedgerow.edge.fields.stripped": [
    "{field}",
    "Fields that adapters stripped, or would in a dry run",
  ],
  "hedgerow.edge.requests.refused": [
    "{request}",
    "Requests that adapters refused, or would in a dry run",
  ],
  "hedgerow.edge.filters.loaded": ["{filter}", "Path filters that stores loaded"],
  "hedgerow.edge.filters.failed": ["{failure}", "Loads of path filters that failed"],
} as const;

const DURATION = "hedgerow.edge.filter.load.duration";

type MetricName = keyof typeof COUNTERS | typeof DURATION;
type Add = (name: MetricName, value: number, attributes?: Attributes) => void;

/** What events add to the metrics. No attribute has a value that a client chose. */
const RECORDERS: {
  readonly [Name in keyof Events]: (event: Events[Name], add: Add) => void;
} = {
  "hedgerow:edge:message": ({ adapter, direction }, add) =>
    add("hedgerow.edge.messages", 1, {
      "hedgerow.edge.adapter": adapter,
      "hedgerow.edge.direction": direction,
    }),
  "hedgerow:edge:report": (event, add) => {
    const { adapter, dryRun, kind, direction, count } = event;
    const attributes = { "hedgerow.edge.adapter": adapter, "hedgerow.edge.dry_run": dryRun };
    if (kind === "strip") {
      const directed = { ...attributes, "hedgerow.edge.direction": direction };
      add("hedgerow.edge.fields.stripped", count, directed);
    } else {
      const reason = event.path === undefined ? "connection" : "path";
      const reasoned = { ...attributes, "hedgerow.edge.reason": reason };
      add("hedgerow.edge.requests.refused", count, reasoned);
    }
  },
  "hedgerow:edge:load": ({ duration, error }, add) => {
    add(DURATION, duration / 1000);
    if (error === undefined) return add("hedgerow.edge.filters.loaded", 1);
    add("hedgerow.edge.filters.failed", 1, { "error.type": codeOf(error) });
  },
};

/** Returns the code of an error of this package; the caller's own errors may have any text. */
function codeOf(error: unknown): string {
  const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown };
  return name === "HedgerowError" && typeof code === "string" ? code : "_OTHER";
}

/**
 * Reports to OpenTelemetry what the adapters and the `PathFilterStore`s of this process do: messages, stripped
 * fields, refused requests, and loads of filters with their duration. Call it once. No attribute has a name, a path
 * or a key that a client chose.
 *
 * Needs `node:diagnostics_channel`: Node, Deno, Bun, and Workers with `nodejs_compat`. Imports only types from
 * OpenTelemetry.
 *
 * @returns a function that stops the reports
 * @throws {HedgerowError} `ERR_ARGUMENT` if `meter` is not a meter
 *
 * @example
 * ```ts
 * import { metrics } from "@opentelemetry/api";
 * import { observeEdge } from "hedgerow/opentelemetry";
 *
 * const stop = observeEdge(metrics.getMeter("edge"));
 * stop();
 * ```
 */
export function observeEdge(meter: Meter): () => void {
  const { createCounter, createHistogram } = (meter ?? {}) as Partial<Meter>;
  if (typeof createCounter !== "function" || typeof createHistogram !== "function") {
    throw wrongType("a meter of OpenTelemetry", meter);
  }
  const metrics = new Map<string, (value: number, attributes?: Attributes) => void>();
  for (const [name, [unit, description]] of Object.entries(COUNTERS)) {
    const counter = meter.createCounter(name, { unit, description });
    metrics.set(name, (value, attributes) => counter.add(value, attributes));
  }
  const durations = meter.createHistogram(DURATION, {
    unit: "s",
    description: "Duration of loads of path filters, including failed ones",
    advice: { explicitBucketBoundaries: BOUNDARIES },
  });
  metrics.set(DURATION, (value) => durations.record(value));
  const add: Add = (name, value, attributes) => metrics.get(name)?.(value, attributes);
  const stops = Object.entries(RECORDERS).map(([channel, record]) => {
    const listener = (event: unknown) => record(event as never, add);
    subscribe(channel, listener);
    return () => unsubscribe(channel, listener);
  });
  return () => {
    for (const stop of stops) stop();
  };
}
