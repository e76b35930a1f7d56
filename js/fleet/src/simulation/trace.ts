import { checkNoOthers, checkNumber } from "../check.js";
import { FleetError } from "../error.js";
import { MAX_IMAGES, MAX_STARTS } from "./check-workload.js";
import { startOf } from "./trace-start.js";
import type { Workload, WorkloadImage } from "./workload.js";
import { cacheBytesOf, MAX_MADE_HOSTS, makeHosts } from "./workloads/starts.js";

/** How a trace is simulated. */
export interface TraceOptions {
  /** The name of the trace, for errors. */
  readonly name: string;
  /** The number of hosts. From 1 to 10,000. */
  readonly hosts: number;
}

/**
 * Reads a trace: JSON objects, one a line, with the `time` of a start and the `duration` of its sandbox in milliseconds,
 * and the `identity` of its image and its size in `bytes`. Times do not decrease. The cache of a host has space for a
 * fifth of the bytes of all images, and for the largest one.
 *
 * @throws {FleetError} `ERR_TRACE` for an invalid line, `ERR_ARGUMENT`
 * @example
 * {"time":0,"identity":"debian-13","bytes":536870912,"duration":60000}
 */
export async function readTrace(
  lines: AsyncIterable<string> | Iterable<string>,
  { name, hosts: hostCount, ...others }: TraceOptions,
): Promise<Workload> {
  checkNoOthers(others);
  checkNumber("hosts", hostCount, 1, MAX_MADE_HOSTS);
  const hosts = makeHosts(hostCount);
  const images: WorkloadImage[] = [];
  const indexes = new Map<string, number>();
  const times: number[] = [];
  const starts: number[] = [];
  const durations: number[] = [];
  for await (const line of lines) {
    const where = `${name}: start ${starts.length + 1}`;
    const fail = (field: string, expected: string, found: string) => {
      return new FleetError(
        "ERR_TRACE",
        `${where}: ${field}: expected ${expected}, found ${found}`,
      );
    };
    if (starts.length === MAX_STARTS) throw fail("trace", `at most ${MAX_STARTS} starts`, "more");
    const { time, identity, bytes, duration } = startOf(line, times.at(-1) ?? 0, fail);
    let index = indexes.get(identity);
    if (index === undefined) {
      if (images.length === MAX_IMAGES) throw fail("trace", `at most ${MAX_IMAGES} images`, "more");
      index = images.length;
      indexes.set(identity, index);
      images.push({ identity, bytes });
    }
    const known = images[index]!.bytes;
    if (known !== bytes)
      throw fail("bytes", `${known}, as in earlier starts of the image`, `${bytes}`);
    times.push(time);
    starts.push(index);
    durations.push(duration);
  }
  if (starts.length === 0)
    throw new FleetError("ERR_TRACE", `${name}: expected a start, found none`);
  return {
    ...{ name, hosts, images, cacheBytes: cacheBytesOf(images) },
    times: Float64Array.from(times),
    starts: Uint32Array.from(starts),
    durations: Float64Array.from(durations),
  };
}
