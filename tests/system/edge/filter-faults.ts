/** What may be wrong with the server of filters while a deployment begins, and what the worker says of it. */
import { noise } from "../../support/snapshots/image.js";
import type { Spoilt } from "../../support/snapshots/proxy.js";

/** How long the worker waits for a filter, in milliseconds. */
export const FILTER_TIMEOUT = 1000;

export interface FilterFault {
  readonly spoilt: Spoilt;
  /** Why requests pass without being checked; nothing, if they are checked all the same. */
  readonly why: string | undefined;
}

const never = new Promise<never>(() => {});
const format = "ERR_FILTER_FORMAT";
const late = "ERR_FILTER_TIMEOUT";

export const FILTER_FAULTS: Readonly<Record<string, FilterFault>> = {
  "filter: error": { spoilt: { status: 500 }, why: "ERR_FILTER_RESPONSE" },
  "filter: gone": { spoilt: { status: 404, body: "<Error/>" }, why: "ERR_FILTER_RESPONSE" },
  "filter: lost": { spoilt: { loseAnswer: true }, why: "other" },
  "filter: cut": { spoilt: { fault: (length) => ({ cutAfter: length >> 1 }) }, why: "other" },
  "filter: stalled": { spoilt: { fault: (length) => ({ stallAfter: length >> 1 }) }, why: late },
  "filter: silent": { spoilt: { delay: never }, why: late },
  "filter: slow": { spoilt: { fault: () => ({ bytesPerSecond: 1000 }) }, why: late },
  "filter: late": { spoilt: { fault: () => ({ firstByte: 50 }) }, why: undefined },
  "filter: empty": { spoilt: { status: 200 }, why: format },
  "filter: garbage": {
    spoilt: { status: 200, body: noise("garbage", 5000).toString("latin1") },
    why: format,
  },
  "filter: a page": { spoilt: { status: 200, body: "<!doctype html>\n" }, why: format },
  "filter: begins well": {
    spoilt: {
      status: 200,
      body: '{"version":"","bloom":{"n":9,"p":0.001,"m":720,"k":9,"s":0}}\n"AAAA"',
    },
    why: format,
  },
};
