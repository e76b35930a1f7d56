/** Pictures of fleets, compared with what they should show. */
import { onTestFinished } from "vitest";
import type { ResidencyOptions } from "../../src/residency/residency.js";
import { Residency } from "../../src/residency/residency.js";
import { until } from "./redis.js";

/** Watches a fleet until the test ends. */
export async function watching(options: ResidencyOptions): Promise<Residency> {
  const residency = await Residency.watch(options);
  onTestFinished(() => residency.close());
  return residency;
}

/** Returns the images of each host, sorted, for the digests that are asked for. */
export function shown(residency: Residency, digests: Iterable<string>): Record<string, string[]> {
  const images: Record<string, string[]> = Object.fromEntries(
    residency.hosts().map(({ id }) => [id, []]),
  );
  for (const digest of digests) {
    for (const host of residency.hostsOf(digest)) images[host]?.push(digest);
  }
  for (const [host, found] of Object.entries(images)) images[host] = found.sort();
  return images;
}

/** Waits until the picture shows these images of each host, and no others. */
export async function untilShown(
  residency: Residency,
  truth: Readonly<Record<string, Iterable<string>>>,
  others: Iterable<string> = [],
): Promise<void> {
  const wanted = Object.fromEntries(
    Object.entries(truth).map(([host, images]) => [host, [...images].sort()]),
  );
  const digests = new Set([...Object.values(wanted).flat(), ...others]);
  const sorted = (value: Record<string, string[]>) => JSON.stringify(Object.entries(value).sort());
  const isEqual = () => {
    const counts = residency.hosts().every(({ id, images }) => images === wanted[id]?.length);
    return counts && sorted(shown(residency, digests)) === sorted(wanted);
  };
  await until(`the picture ${sorted(wanted)}`, isEqual).catch((error: Error) => {
    throw new Error(`${error.message}, found ${sorted(shown(residency, digests))}`);
  });
}
