/** A small fleet, and the errors that its engine causes. */
import { onTestFinished } from "vitest";

import { redisEngine } from "../../src/residency/redis-engine.js";
import { reportResidency } from "../../src/residency/report.js";
import { untilShown, watching } from "./pictures.js";
import { connectTo, type Redis } from "./redis.js";
import { StubCache } from "./stub-cache.js";

/** The timeout of commands, in milliseconds. */
export const TIMEOUT = 300;

/** Starts a host with an image, and a picture of its fleet. @param timeout of commands, in milliseconds */
export async function newFleet(server: Pick<Redis, "url">, prefix = "faults", timeout = TIMEOUT) {
  const errors: Error[] = [];
  const onError = (error: Error) => errors.push(error);
  const redisClient = await connectTo(server.url);
  const client = redisEngine(redisClient, { prefix, timeout });
  const cache = new StubCache();
  const digest = cache.fill(prefix);
  const residency = await watching({ client, onError, maxStale: 500 });
  const options = { client, host: "one", ttl: 900, interval: 10, onError };
  const report = await reportResidency(cache.asCache, options);
  onTestFinished(() => report.close());
  await untilShown(residency, { one: [digest] });
  return { errors, client, redisClient, cache, digest, residency, report };
}

/** Returns whether an error is one of the engine. */
export const isTyped = (error: Error) =>
  error.name === "FleetError" && "code" in error && error.code === "ERR_ENGINE";
