import { checkId, checkNumber, invalid } from "../check.js";
import { MAX_HOSTS } from "../placement/hosts.js";
import { OVERHEAD } from "./host-cache.js";
import type { Workload } from "./workload.js";

/** The maximum number of starts of a workload. */
export const MAX_STARTS = 10_000_000;

/** The maximum number of images of a workload. */
export const MAX_IMAGES = 1_048_576;

/** The maximum time and duration, in milliseconds: 31 years. */
export const MAX_TIME = 1e12;

/** The maximum size of an image, in bytes. */
export const MAX_BYTES = 2 ** 50;

/** @throws {FleetError} `ERR_ARGUMENT` */
export function checkWorkload(workload: Workload): void {
  const { hosts, images, cacheBytes, times, starts, durations, flash } = workload;
  checkNumber("hosts", hosts.length, 1, MAX_HOSTS);
  checkNumber("images", images.length, 1, MAX_IMAGES);
  checkNumber("starts", starts.length, 1, MAX_STARTS);
  checkNumber("cacheBytes", cacheBytes, OVERHEAD, Number.MAX_SAFE_INTEGER);
  if (times.length !== starts.length || durations.length !== starts.length) {
    throw invalid("times and durations", `${starts.length} numbers`, "another number");
  }
  for (const { id, joins, leaves } of hosts) {
    checkId("host.id", id);
    if (!(joins >= 0 && leaves > joins)) {
      throw invalid(
        `host ${id}`,
        "to join at 0 or later and to leave after that",
        `${joins}, ${leaves}`,
      );
    }
  }
  for (const { identity, bytes } of images) {
    checkId("identity", identity);
    checkNumber(`bytes of ${identity}`, bytes, 1, cacheBytes - OVERHEAD);
  }
  let last = 0;
  for (let start = 0; start < starts.length; start += 1) {
    checkNumber(`time of start ${start}`, times[start], last, MAX_TIME);
    checkNumber(`image of start ${start}`, starts[start], 0, images.length - 1);
    checkNumber(`duration of start ${start}`, durations[start], 0, MAX_TIME);
    last = times[start]!;
  }
  if (flash !== undefined) checkNumber("flash", flash, 0, images.length - 1);
}
