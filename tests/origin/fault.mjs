// Faults of an origin.

/**
 * The faults of one response, which are combined. Offsets and lengths are of its body.
 *
 * @typedef {object} Fault
 * @property {number} [bytesPerSecond] the rate of this response, in place of the connection's
 * @property {number} [firstByte] additional milliseconds before the response
 * @property {number} [cutAfter] bytes after which the connection is closed, sent or of an upload received
 * @property {boolean} [reset] whether a cut connection is reset, which may discard its last bytes. Not with TLS
 * @property {number} [stallAfter] bytes after which nothing more is sent, or of an upload received
 * @property {boolean} [noAnswer] there is no response
 * @property {number} [status] the status of the response, with `content` or nothing as its body
 * @property {string | number} [retryAfter] the header `Retry-After`
 * @property {string} [location] a redirect to a path or a URL. Default status: 302
 * @property {boolean} [ignoreRange] the whole file is sent with status 200
 * @property {boolean} [ignoreIfMatch] preconditions are ignored
 * @property {"none" | "shifted" | "wrong total"} [contentRange] the header is missing or wrong
 * @property {string | null} [etag] the `ETag` of the file, or `null` for none
 * @property {string} [lastModified] the date in `Last-Modified`. Default: none
 * @property {string} [encoding] the `Content-Encoding`; the content stays as it is. Default: none
 * @property {Uint8Array} [content] the content of the file
 * @property {number} [flipBit] the offset of a byte with one flipped bit
 * @property {number} [extraBytes] how many bytes more than `Content-Length` are sent, or fewer if negative
 */

/**
 * The request that a fault is for.
 *
 * @typedef {object} FaultRequest
 * @property {number} number the number of the request, from 1
 * @property {string} method
 * @property {string} path
 * @property {import("node:http").IncomingHttpHeaders} headers
 * @property {import("./resource.mjs").Range | undefined} range the requested range, if there is one
 * @property {number} length the number of requested bytes
 */

/** @typedef {(request: FaultRequest) => Fault | undefined} Faults */

/** @typedef {(random: () => number, request: FaultRequest) => Fault} MakeFault */

/** @type {MakeFault} */
const somewhere = (random, { length }) => ({ cutAfter: Math.floor(random() * length) });

/**
 * Faults by name, each at a random position.
 *
 * @satisfies {Record<string, MakeFault>}
 */
const KINDS = {
  cut: somewhere,
  /** @type {MakeFault} */
  reset: (random, request) => ({ ...somewhere(random, request), reset: true }),
  /** @type {MakeFault} */
  stall: (random, { length }) => ({ stallAfter: Math.floor(random() * length) }),
  /** @type {MakeFault} */
  short: (random, { length }) => ({ extraBytes: -Math.ceil(random() * length) }),
  /** @type {MakeFault} */
  flip: (random, { length }) => ({ flipBit: Math.floor(random() * length) }),
  /** @type {MakeFault} */
  late: (random) => ({ firstByte: Math.floor(random() * 50) }),
  /** @type {MakeFault} */
  silent: () => ({ noAnswer: true }),
  /** @type {MakeFault} */
  shifted: () => ({ contentRange: "shifted" }),
  /** @type {MakeFault} */
  whole: () => ({ ignoreRange: true }),
  /** @type {MakeFault} */
  error: () => ({ status: 500 }),
  /** @type {MakeFault} */
  busy: () => ({ status: 503, retryAfter: 0 }),
  /** @type {MakeFault} */
  throttled: () => ({ status: 429 }),
};

/** @typedef {keyof typeof KINDS} FaultKind */

/**
 * Returns faults of a share of all requests.
 *
 * @param {() => number} random numbers from 0 to 1, such as those of `seededRandom`
 * @param {{ share: number, kinds: readonly FaultKind[] }} options
 * @returns {Faults}
 */
export function randomFaults(random, { share, kinds }) {
  return (request) => {
    if (random() >= share) return undefined;
    const kind = kinds[Math.floor(random() * kinds.length)];
    return kind && KINDS[kind](random, request);
  };
}
