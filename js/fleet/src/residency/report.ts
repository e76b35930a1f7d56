import type { ImageCache } from "@hedgerow/snapshot";

import { checkedReport, type ReportOptions } from "./report-options.js";
import { Reporter } from "./reporter.js";

/** A report of a cache to a fleet. */
export interface ResidencyReport {
  /** Publishes the state of the host soon, such as after a sandbox has started. */
  update(): void;
  /** Removes the host from the fleet, and ends the report, within five seconds. Never rejects. */
  close(): Promise<void>;
  /** Calls {@link close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Reports to a fleet which images a cache has, and keeps the report up to date until it is closed.
 *
 * Resolves when the report is published, or the engine has failed: it is then tried again in the background. The cache
 * works as before in either case. Close the report before the cache.
 *
 * Images that other processes put into the directory are reported, too: one process of a host reports for all.
 *
 * @throws {FleetError} `ERR_ARGUMENT`
 * @example
 * const cache = await ImageCache.open("/var/cache/images", { maxBytes: 50e9 });
 * const report = await reportResidency(cache, { client, host: hostname(), status: () => ({ load: running.size }) });
 * await report.close();
 */
export async function reportResidency(
  cache: ImageCache,
  options: ReportOptions,
): Promise<ResidencyReport> {
  const reporter = new Reporter(cache, checkedReport(cache, options));
  await reporter.tried;
  return reporter;
}
