import type { Transfer } from "../../options/transfer-options.js";
import { Failure } from "../failure.js";
import type { ServerRequest } from "../server-request.js";
import { type Answer, follow } from "./follow.js";
import { lengthOf, type ObjectVersion, partOf, pinOf, sizeOf } from "./object-version.js";

/**
 * How much of the end is asked for, in bytes: the manifest of 10,000 frames, which are 10 GB of data. More
 * would take longer than it takes to ask again.
 */
const END_LENGTH = 2 ** 19;

/** The end of an object, and what is known of it then. */
export interface Found {
  /** What it is asked of, after all redirects. */
  readonly request: ServerRequest;
  readonly version: ObjectVersion;
  /** The last bytes. */
  readonly tail: Uint8Array<SharedArrayBuffer>;
}

/**
 * Asks for the end of an object. Returns undefined where there are no ranges.
 *
 * @throws {Failure}
 */
export async function findEnd(
  request: ServerRequest,
  transfer: Transfer,
  signal: AbortSignal | undefined,
): Promise<Found | undefined> {
  const ask = (range: string) =>
    follow(request, { range }, transfer, signal, async (answer): Promise<Found | number> => {
      const { statusCode, headers } = answer.response;
      // Some have ranges, but not those that count from the end. They tell how long it is.
      if (statusCode === 200) return lengthOf(headers) ?? Number.NaN;
      const size = statusCode === 416 ? sizeOf(headers) : undefined;
      return size ?? endOf(answer);
    });
  const found = await ask(`bytes=-${END_LENGTH}`);
  if (typeof found !== "number") return found;
  if (found === 0) return { request, version: pinOf(0, {}), tail: zeros(0) };
  if (Number.isNaN(found)) return undefined;
  const again = await ask(`bytes=${Math.max(0, found - END_LENGTH)}-${found - 1}`);
  return typeof again === "number" ? undefined : again;
}

/** The end of an object, as an answer brings it. */
async function endOf({ response, download, request }: Answer): Promise<Found> {
  const { start, end, version } = partOf(response);
  if (end !== version.size || end - start > END_LENGTH) {
    const found = `bytes ${start}-${end - 1} of ${version.size}`;
    throw new Failure(`expected the last ${END_LENGTH} bytes, found ${found}`, true);
  }
  const tail = zeros(end - start);
  await download.fill(response, tail);
  return { request, version, tail };
}

/** Memory that threads share. */
function zeros(length: number): Uint8Array<SharedArrayBuffer> {
  return new Uint8Array(new SharedArrayBuffer(length));
}
