/** Strips header fields in the forms in which Node and undici take and give them. */
import type { HeaderStripper } from "../headers/header-stripper.js";

/** Names and values: in turn, in pairs, or as an object. Names may be bytes, in turn. */
export type Fields =
  | readonly unknown[]
  | Iterable<readonly [string, unknown]>
  | Readonly<Record<string, unknown>>;

/**
 * The fields without those whose name a rule matches: `fields` itself if there are none, else a copy.
 * An iterable of pairs may be read but once: of it there is always a copy, of names and values in turn.
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
    return strippedPairs(stripper, [...(fields as Iterable<[string, unknown]>)]).flat();
  }
  return strippedRecord(stripper, fields as Record<string, unknown>);
}

function strippedRecord(
  stripper: HeaderStripper,
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const doomed = doomedNames(stripper, Object.keys(fields), (name) => fields[name]);
  if (doomed.length === 0) return fields;
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !doomed.includes(name)));
}

function strippedPairs(
  stripper: HeaderStripper,
  pairs: readonly [string, unknown][],
): readonly [string, unknown][] {
  const names = pairs.map(([name]) => name);
  const doomed = doomedNames(stripper, names, (_, index) => pairs[index]![1]);
  return doomed.length === 0 ? pairs : pairs.filter(([name]) => !doomed.includes(name));
}

function strippedTurns(stripper: HeaderStripper, fields: readonly unknown[]): readonly unknown[] {
  const names: string[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) names.push(textOf(fields[index]));
  const doomed = doomedNames(stripper, names, (_, index) => fields[2 * index + 1]);
  if (doomed.length === 0) return fields;
  return fields.filter((_, index) => !doomed.includes(names[index >> 1]!));
}

/**
 * The names that go, as they are written: those that a rule matches, and those that a `Connection` among
 * these nominates.
 *
 * @param valueAt the value of a name, by this and its index
 */
export function doomedNames(
  stripper: HeaderStripper,
  names: readonly string[],
  valueAt: (name: string, index: number) => unknown,
): string[] {
  const doomed = names.filter((name) => stripper.matches(name));
  if (!doomed.some(isConnection)) return doomed;
  const raw = names.flatMap((name, index) => [name, textOf(valueAt(name, index))]);
  const kept = new Set(stripper.stripRaw(raw).filter((_, index) => index % 2 === 0));
  return names.filter((name) => !kept.has(name));
}

function isConnection(name: string): boolean {
  return name.length === 10 && name.toLowerCase() === "connection";
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).join(",");
  // Of Node's buffers, as what fields come in; much faster than what all bytes have.
  const { latin1Slice } = value as { latin1Slice?: () => string };
  if (value instanceof Uint8Array && latin1Slice !== undefined) return latin1Slice.call(value);
  return value instanceof Uint8Array ? String.fromCharCode(...value) : String(value);
}
