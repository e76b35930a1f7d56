import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Meter } from "@opentelemetry/api";

import { SnapshotError } from "../error.js";
import type { Events } from "../events.js";
import type { DiskStore } from "../store/disk-store.js";
import { BOUNDARIES, check, checkMeter } from "./observe.js";

/** The events of stores. */
type StoreEvents = Pick<Events, Extract<keyof Events, `hedgerow:store:${string}`>>;

/** Returns numbers of an event, by the names of their metrics. */
type Numbers<Event> = (event: Event) => Readonly<Record<string, number>>;

/** The histograms, in seconds. */
const DURATIONS = {
  "hedgerow.store.attach.duration": "Duration of attaching a disk",
  "hedgerow.store.save.duration": "Duration of saving an attached disk",
  "hedgerow.store.save.pause": "Time that writes waited for a save",
};

/** The counters: their unit and description. */
const COUNTERS = {
  "hedgerow.store.saved": ["By", "Bytes of the snapshots that were saved"],
  "hedgerow.store.changed": ["By", "Bytes in changed blocks that were saved"],
  "hedgerow.store.save.failures": ["{failure}", "Automatic saves that failed"],
  "hedgerow.store.leases.lost": ["{lease}", "Leases that were lost"],
  "hedgerow.store.deleted": ["By", "Bytes that collections deleted"],
} as const;

/** Functions that return the numbers that an event adds to the metrics. */
const EVENTS: { readonly [Name in keyof StoreEvents]: Numbers<StoreEvents[Name]> } = {
  "hedgerow:store:attach": ({ duration }) => ({
    "hedgerow.store.attach.duration": duration / 1000,
  }),
  "hedgerow:store:save": ({ duration, pause, bytes, changedBytes }) => ({
    "hedgerow.store.save.duration": duration / 1000,
    "hedgerow.store.save.pause": pause / 1000,
    "hedgerow.store.saved": bytes,
    "hedgerow.store.changed": changedBytes,
  }),
  "hedgerow:store:save-failed": () => ({ "hedgerow.store.save.failures": 1 }),
  "hedgerow:store:lost": () => ({ "hedgerow.store.leases.lost": 1 }),
  "hedgerow:store:collect": ({ bytes }) => ({ "hedgerow.store.deleted": bytes }),
};

/**
 * Reports to OpenTelemetry how this process uses a store of disks. Observe a store once, before you use it.
 *
 * Imports only types from OpenTelemetry.
 *
 * @returns a function that stops the reports
 * @throws {SnapshotError} `ERR_ARGUMENT`
 *
 * @example
 * import { metrics } from "@opentelemetry/api";
 *
 * const stop = observeStore(store, metrics.getMeter("sandboxes"));
 * await work(store);
 * stop();
 */
export function observeStore(store: DiskStore, meter: Meter): () => void {
  check("store", "a store of disks", store, { place: "string", attach: "function" });
  checkMeter(meter);
  if (typeof meter.createCounter !== "function") {
    throw new SnapshotError("ERR_ARGUMENT", "meter: expected a meter of OpenTelemetry");
  }
  const { place } = store;
  const attributes = { "hedgerow.store.place": place };
  const metrics = new Map<string, (value: number) => void>();
  for (const [name, description] of Object.entries(DURATIONS)) {
    const advice = { explicitBucketBoundaries: BOUNDARIES };
    const histogram = meter.createHistogram(name, { unit: "s", description, advice });
    metrics.set(name, (value) => histogram.record(value, attributes));
  }
  for (const [name, [unit, description]] of Object.entries(COUNTERS)) {
    const counter = meter.createCounter(name, { unit, description });
    metrics.set(name, (value) => counter.add(value, attributes));
  }
  const stops = Object.entries(EVENTS).map(([channel, numbersOf]) => {
    const record = (message: unknown) => {
      if ((message as { readonly store: string }).store !== place) return;
      const numbers = (numbersOf as Numbers<unknown>)(message);
      for (const [name, value] of Object.entries(numbers)) metrics.get(name)?.(value);
    };
    subscribe(channel, record);
    return () => unsubscribe(channel, record);
  });
  return () => {
    for (const stop of stops) stop();
  };
}
