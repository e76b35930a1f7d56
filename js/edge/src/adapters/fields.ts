/** Strips header fields in the forms in which Node and undici take and give them. */
import type { HeaderStripper } from "../headers/header-stripper.js";

/** Names and values: in turn, in pairs, or as an object. Names may be bytes, in turn. */
export type Fields =
  | readonly unknown[]
  | Iterable<readonly [string, unknown]>
  | Readonly<Record<string, unknown>>;

/**
 * The fields without those whose name a rule matches: `fields` itself if there are none, else a copy.
 * Of an iterable of pairs the copy has names and values in turn.
 */
export function strippedFields<Given extends Fields>(
  stripper: HeaderStripper,
  fields: Given,
): Given | readonly unknown[] | Record<string, unknown> {
  if (Array.isArray(fields)) {
    return Array.isArray(fields[0])
      ? strippedPairs(stripper, fields)
      : strippedTurns(stripper, fields);
  }
  if (Symbol.iterator in fields) {
    const pairs = [...(fields as Iterable<[string, unknown]>)];
    const kept = strippedPairs(stripper, pairs);
    return kept === pairs ? fields : kept.flat();
  }
  const names = Object.keys(fields);
  if (!names.some((name) => stripper.matches(name))) return fields;
  const entries = Object.entries(fields);
  return Object.fromEntries(strippedPairs(stripper, entries));
}

function strippedPairs(
  stripper: HeaderStripper,
  pairs: readonly [string, unknown][],
): readonly [string, unknown][] {
  if (!pairs.some(([name]) => stripper.matches(name))) return pairs;
  const kept = keptNames(stripper, pairs);
  return pairs.filter(([name]) => kept.has(name));
}

function strippedTurns(stripper: HeaderStripper, fields: readonly unknown[]): readonly unknown[] {
  const pairs: [string, number][] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    pairs.push([textOf(fields[index]), index]);
  }
  if (!pairs.some(([name]) => stripper.matches(name))) return fields;
  const kept = keptNames(
    stripper,
    pairs.map(([name, index]) => [name, fields[index + 1]]),
  );
  return pairs
    .filter(([name]) => kept.has(name))
    .flatMap(([, index]) => [fields[index], fields[index + 1]]);
}

/** The names that stay, as they were written: neither matched nor nominated by a `Connection` that goes. */
export function keptNames(
  stripper: HeaderStripper,
  pairs: readonly (readonly [name: string, value: unknown])[],
): Set<string> {
  const raw = pairs.flatMap(([name, value]) => [name, textOf(value)]);
  const kept = stripper.stripRaw(raw);
  return new Set(kept.filter((_, index) => index % 2 === 0));
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).join(",");
  return value instanceof Uint8Array ? String.fromCharCode(...value) : String(value);
}
