/** Faults of loading a new filter, and the error that the worker reports for each. */
import { noise } from "../../support/snapshots/image.js";
import type { ProxyFault } from "../../support/snapshots/proxy.js";

/** Milliseconds that the worker waits for a filter. */
export const FILTER_TIMEOUT = 1000;

export interface FilterFault {
  readonly injected: ProxyFault;
  /** The code of the error that lets requests pass unchecked; `undefined` if the filter loads nevertheless. */
  readonly code: string | undefined;
}

const never = new Promise<never>(() => {});
const format = "ERR_FILTER_FORMAT";
const late = "ERR_FILTER_TIMEOUT";

export const FILTER_FAULTS: Readonly<Record<string, FilterFault>> = {
  "filter: error": { injected: { status: 500 }, code: "ERR_FILTER_RESPONSE" },
  "filter: gone": { injected: { status: 404, body: "<Error/>" }, code: "ERR_FILTER_RESPONSE" },
  "filter: lost": { injected: { loseResponse: true }, code: "other" },
  "filter: cut": { injected: { fault: (length) => ({ cutAfter: length >> 1 }) }, code: "other" },
  "filter: stalled": { injected: { fault: (length) => ({ stallAfter: length >> 1 }) }, code: late },
  "filter: silent": { injected: { delay: never }, code: late },
  "filter: slow": { injected: { fault: () => ({ bytesPerSecond: 1000 }) }, code: late },
  "filter: late": { injected: { fault: () => ({ firstByte: 50 }) }, code: undefined },
  "filter: empty": { injected: { status: 200 }, code: format },
  "filter: garbage": {
    injected: { status: 200, body: noise("garbage", 5000).toString("latin1") },
    code: format,
  },
  "filter: a page": { injected: { status: 200, body: "<!doctype html>\n" }, code: format },
  "filter: malformed body": {
    injected: {
      status: 200,
      body: '{"version":"","bloom":{"n":9,"p":0.001,"m":720,"k":9,"s":0}}\n"AAAA"',
    },
    code: format,
  },
};
