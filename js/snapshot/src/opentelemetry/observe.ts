import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Attributes, Meter, Observable } from "@opentelemetry/api";

import { BOUNDS } from "../disk/statistics.js";
import { SnapshotError } from "../error.js";
import type { Events } from "../events.js";

/** A metric that reports a number of statistics. */
export interface Metric<Stats> {
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  /** Returns the number, or undefined if there is none yet. */
  of(stats: Stats): number | undefined;
}

/** The events that have a duration. */
type TimedEvents = {
  [Name in keyof Events as Events[Name] extends { duration: number } ? Name : never]: Events[Name];
};

/** A histogram of the durations of events. */
interface DurationMetric<Name extends keyof TimedEvents> {
  readonly name: string;
  readonly description: string;
  readonly channel: Name;
  /** Returns the attributes of an event, or undefined if the event is of another object. */
  attributesOf(event: TimedEvents[Name]): Attributes | undefined;
}

/** An object whose statistics are reported. */
interface Observed<Stats, Name extends keyof TimedEvents> {
  /** The attributes that identify the object. */
  readonly attributes: Attributes;
  /** Returns the statistics, or undefined if they are not available. */
  stats(): Promise<Stats | undefined>;
  /** Numbers that only grow. */
  readonly counters: readonly Metric<Stats>[];
  /** Measurements. */
  readonly gauges: readonly Metric<Stats>[];
  readonly durations: DurationMetric<Name>;
}

/** The members of an object and the `typeof` of each. */
type Members<T> = { readonly [Name in keyof T]?: "function" | "string" };

/** The members that a meter must have. */
const METER: Members<Meter> = {
  createObservableCounter: "function",
  createObservableGauge: "function",
  createCounter: "function",
  createHistogram: "function",
  addBatchObservableCallback: "function",
  removeBatchObservableCallback: "function",
};

/** The bucket boundaries of durations, in seconds. */
export const BOUNDARIES = BOUNDS.map((milliseconds) => milliseconds / 1000);

/** Reports the metrics of an object to a meter. Returns a function that stops the reports. */
export function observe<Stats, Name extends keyof TimedEvents>(
  meter: Meter,
  { attributes, stats: statsOf, counters, gauges, durations }: Observed<Stats, Name>,
): () => void {
  const observed = new Map<Observable, Metric<Stats>>();
  for (const metric of counters) {
    observed.set(meter.createObservableCounter(metric.name, optionsOf(metric)), metric);
  }
  for (const metric of gauges) {
    observed.set(meter.createObservableGauge(metric.name, optionsOf(metric)), metric);
  }
  const observables = [...observed.keys()];
  const report: Parameters<Meter["addBatchObservableCallback"]>[0] = async (result) => {
    const stats = await statsOf();
    if (stats === undefined) return;
    for (const [observable, { of }] of observed) {
      const value = of(stats);
      if (value !== undefined) result.observe(observable, value, attributes);
    }
  };
  const { name, description, channel, attributesOf } = durations;
  const histogram = meter.createHistogram(name, {
    unit: "s",
    description,
    advice: { explicitBucketBoundaries: BOUNDARIES },
  });
  const record = (message: unknown) => {
    const event = message as TimedEvents[Name];
    const own = attributesOf(event);
    if (own !== undefined) histogram.record(event.duration / 1000, { ...attributes, ...own });
  };
  meter.addBatchObservableCallback(report, observables);
  subscribe(channel, record);
  return () => {
    meter.removeBatchObservableCallback(report, observables);
    unsubscribe(channel, record);
  };
}

/** Throws unless a value is a meter. @throws {SnapshotError} `ERR_ARGUMENT` */
export function checkMeter(meter: Meter): void {
  check("meter", "a meter of OpenTelemetry", meter, METER);
}

/** Throws unless a value has all members. @throws {SnapshotError} `ERR_ARGUMENT` */
export function check<T>(name: string, expected: string, value: T, members: Members<T>): void {
  const found = Object(value) as T;
  const kinds = Object.entries(members) as [keyof T, string][];
  if (kinds.every(([member, kind]) => typeof found[member] === kind)) return;
  throw new SnapshotError("ERR_ARGUMENT", `${name}: expected ${expected}, found something else`);
}

function optionsOf({ unit, description }: Omit<Metric<never>, "of">) {
  return { unit, description };
}
