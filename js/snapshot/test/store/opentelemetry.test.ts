/** The metrics of a store, as the OpenTelemetry SDK collects them. */
import { hasSubscribers } from "node:diagnostics_channel";
import { DiskStore } from "@hedgerow/snapshot";
import { observeStore } from "@hedgerow/snapshot/opentelemetry";
import type { Histogram } from "@opentelemetry/sdk-metrics";
import { expect, test } from "vitest";

import { temporaryFolder } from "../../../../tests/support/snapshots/folder.js";
import { recordEvents } from "../support/events.js";
import { makeMeter } from "../support/meter.js";
import { BLOCK, fillBlock, whileAttached } from "../support/stores.js";

const path = temporaryFolder();

test("reports attaching, saving, lost leases and collections of one store", async () => {
  const [store, other] = [
    await DiskStore.open(path("store"), { images: path("images") }),
    await DiskStore.open(path("other"), { images: path("images") }),
  ];
  const { meter, collect } = makeMeter();
  const stop = observeStore(store, meter);
  const saves = recordEvents("hedgerow:store:save");
  for (const one of [store, other]) {
    await one.create("a", { size: 2 * BLOCK });
    await whileAttached(one, "a", (disk) => fillBlock(disk, 0, "x"));
  }
  const lost = await store.attach("a");
  await fillBlock(lost, 1, "y");
  await (await store.attach("a", { steal: true })).detach();
  await expect(lost.save()).rejects.toThrow();
  await lost.detach({ save: false });
  await store.remove("a");
  for (let pass = 0; pass < 2; pass += 1) await store.collect({ grace: 0 });

  const metrics = await collect();
  const values: Record<string, unknown> = {};
  for (const [name, { dataPoints }] of metrics) {
    expect(dataPoints).toHaveLength(1);
    expect(dataPoints[0]?.attributes).toEqual({ "hedgerow.store.location": store.location });
    const value = dataPoints[0]?.value;
    values[name] = typeof value === "number" ? value : (value as Histogram).count;
  }
  const { bytes } = saves.find(({ store: location }) => location === store.location) ?? {
    bytes: 0,
  };
  expect(values).toEqual({
    "hedgerow.store.attach.duration": 3,
    "hedgerow.store.save.duration": 1,
    "hedgerow.store.save.pause": 1,
    "hedgerow.store.saved": bytes,
    "hedgerow.store.changed": BLOCK,
    "hedgerow.store.leases.lost": 1,
    "hedgerow.store.deleted": expect.any(Number),
  });
  expect(values["hedgerow.store.deleted"]).toBeGreaterThan(bytes);
  stop();
  expect(hasSubscribers("hedgerow:store:attach")).toBe(false);
  expect(() => observeStore({} as DiskStore, meter)).toThrow("store: expected");
  expect(() => observeStore(store, {} as typeof meter)).toThrow("meter: expected");
});
