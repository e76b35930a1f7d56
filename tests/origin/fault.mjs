// How an origin may misbehave.

/**
 * What is wrong with one answer; all of it at once. Offsets and lengths are of the answer's body.
 *
 * @typedef {object} Fault
 * @property {number} [bytesPerSecond] the rate of this answer, instead of its connection's
 * @property {number} [firstByte] milliseconds that the answer waits besides
 * @property {number} [cutAfter] bytes after which the connection is closed; of an upload, those received
 * @property {boolean} [reset] a connection that is cut is reset, which may take the last bytes along; not
 *   with TLS
 * @property {number} [stallAfter] bytes after which nothing is sent any more; of an upload, nothing received
 * @property {boolean} [noAnswer] nothing is answered, ever
 * @property {number} [status] this status, and no file: `content`, if there is some
 * @property {string | number} [retryAfter] the header `Retry-After`
 * @property {string} [location] a redirect to a path or a URL, with status 302 unless another is told
 * @property {boolean} [ignoreRange] all of the file is sent, with status 200
 * @property {boolean} [ignoreIfMatch] a file of another `ETag`, or date, than was asked for is sent
 * @property {"none" | "shifted" | "wrong total"} [contentRange] the header is left out, or untrue
 * @property {string | null} [etag] the file has this `ETag`, such as a weak one, or none
 * @property {string} [lastModified] the file was changed last at this date of HTTP; otherwise none is told
 * @property {Uint8Array} [content] the file is this
 * @property {number} [flipBit] the offset of a byte of which one bit is flipped
 * @property {number} [extraBytes] how many bytes more are sent than `Content-Length` says; less if negative
 */

/**
 * What a script of faults is told of a request.
 *
 * @typedef {object} FaultRequest
 * @property {number} number which request it is, from 1
 * @property {string} method
 * @property {string} path
 * @property {import("node:http").IncomingHttpHeaders} headers
 * @property {import("./range.mjs").Range | undefined} range the part of the file that is asked for, if
 *   it is not all of it
 * @property {number} length how many bytes are asked for
 */

/** @typedef {(request: FaultRequest) => Fault | undefined} Faults */

/** @typedef {(random: () => number, request: FaultRequest) => Fault} MakeFault */

/** @type {MakeFault} */
const somewhere = (random, { length }) => ({ cutAfter: Math.floor(random() * length) });

/**
 * Faults by name, each somewhere in the answer.
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
 * Faults that strike a share of all requests.
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
