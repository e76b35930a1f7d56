/** Stripping of header fields in the forms that Node and undici use. */
import type { HeaderStripper } from "../headers/header-stripper.js";
import { isForbiddenNomination, type Stripping } from "./adapter.js";

/** Fields as a flat list of names and values, as pairs, or as an object. In a flat list, names may be bytes. */
export type Fields =
  | readonly unknown[]
  | Iterable<readonly [string, unknown]>
  | Readonly<Record<string, unknown>>;

/** Fields in a form that can be read more than once. */
export type Readable = readonly unknown[] | Readonly<Record<string, unknown>>;

/** Returns fields in a form that can be read more than once: pairs that may be readable only once as a flat list. */
export function readable(fields: Fields): Readable {
  const isIterable = !Array.isArray(fields) && Symbol.iterator in fields;
  if (!isIterable) return fields as Readable;
  return flattened([...(fields as Iterable<readonly unknown[]>)]);
}

/**
 * Returns the fields without those that the rules strip: `fields` itself if the rules strip none or in a dry run,
 * otherwise a copy. A list is flat, as undici reads it.
 */
export function strippedFields(
  { stripper, isDryRun, note }: Stripping,
  fields: Readable,
  isResponse: boolean,
): Readable {
  const names = namesOf(fields, false);
  const matched = namesToStrip(stripper, names, () => valuesOf(fields, false), isResponse);
  note(matched);
  return isDryRun ? fields : withoutNames(fields, matched, false, names);
}

/** Flattens pairs. Other items remain, for undici to reject. */
function flattened(pairs: readonly (readonly unknown[])[]): readonly unknown[] {
  if (!pairs.every(Array.isArray)) return [pairs];
  return pairs.flatMap((pair) => pair.slice(0, 2));
}

/**
 * Returns the names of fields as they are sent: Node's HTTP/2 servers trim them, and both these servers and
 * undici convert them to lower case, including letters outside ASCII.
 *
 * @param hasPairs whether `fields` is a list of pairs
 */
export function namesOf(fields: Readable, hasPairs = isPairs(fields)): string[] {
  if (!isList(fields)) return Object.keys(fields).map(nameOf);
  if (hasPairs) return fields.map((pair) => nameOf((pair as readonly unknown[])[0]));
  const names: string[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) names.push(nameOf(fields[index]));
  return names;
}

function nameOf(written: unknown): string {
  const name = typeof written === "string" ? written : textOf(written);
  return name.trim().toLowerCase();
}

/** Returns the values of fields, in the order of {@link namesOf}. */
export function valuesOf(fields: Readable, hasPairs = isPairs(fields)): unknown[] {
  if (!isList(fields)) return Object.values(fields);
  if (hasPairs) return fields.map((pair) => (pair as readonly unknown[])[1]);
  return fields.filter((_, index) => index % 2 === 1);
}

/**
 * Returns the fields except those named in `matched`, which has names from {@link namesOf}.
 *
 * @param names the result of {@link namesOf}
 */
export function withoutNames(
  fields: Readable,
  matched: readonly string[],
  hasPairs = isPairs(fields),
  names = matched.length === 0 ? matched : namesOf(fields, hasPairs),
): Readable {
  if (matched.length === 0) return fields;
  const isMatched = membership(matched);
  const stays = (index: number) => !isMatched(names[index]!);
  if (hasPairs) {
    // Convert each pair to an array: if the first is not one, Node reads the list as flat.
    const kept = (fields as readonly (readonly unknown[])[]).filter((_, index) => stays(index));
    return kept.map((pair) => [pair[0], pair[1]]);
  }
  if (isList(fields)) return fields.filter((_, index) => stays(index >> 1));
  // Much faster than entries.
  const kept: Record<string | symbol, unknown> = {};
  Object.keys(fields).forEach((key, index) => {
    if (!stays(index)) return;
    const value = fields[key];
    if (key !== "__proto__") kept[key] = value;
    else Object.defineProperty(kept, key, { ...OWN, value });
  });
  // Keep symbols: Node's HTTP/2 stores the list of sensitive fields under one.
  for (const symbol of Object.getOwnPropertySymbols(fields)) {
    kept[symbol] = (fields as Record<symbol, unknown>)[symbol];
  }
  return kept;
}

/** Number of names from which a set is faster than a list. */
const MANY = 16;

/** Returns a function that tells whether a name is one of `names`. */
export function membership(names: readonly string[]): (name: string) => boolean {
  if (names.length < MANY) return (name) => names.includes(name);
  const all = new Set(names);
  return (name) => all.has(name);
}

/** The attributes of a property made by an assignment. One to `__proto__` would set the prototype. */
const OWN = { configurable: true, enumerable: true, writable: true };

function isList(fields: Readable): fields is readonly unknown[] {
  return Array.isArray(fields);
}

/** Returns whether Node reads fields as a list of pairs: it checks the first item. */
function isPairs(fields: Readable): boolean {
  return isList(fields) && Array.isArray(fields[0]);
}

/**
 * Returns the names to strip: those that the rules strip, and, if `connection` is one of them, those that it nominates.
 *
 * @param names names in lower case, as {@link namesOf} returns them
 * @param values returns the values of the names
 * @param isResponse whether to ignore a `Connection` that nominates a field meant for all recipients: some
 * servers nominate `Transfer-Encoding`, and a response that has arrived cannot be rejected
 * @throws {HedgerowError} `ERR_CONNECTION_OPTION` for such a `Connection` in a request
 */
export function namesToStrip(
  stripper: HeaderStripper,
  names: readonly string[],
  values: () => readonly unknown[],
  isResponse: boolean,
): string[] {
  const matched = names.filter((name) => stripper.strips(name));
  if (!matched.includes("connection")) return matched;
  const all = values();
  const raw = names.flatMap((name, index) => [name, textOf(all[index])]);
  try {
    const kept = new Set(stripper.stripRaw(raw).filter((_, index) => index % 2 === 0));
    return names.filter((name) => !kept.has(name));
  } catch (error) {
    if (isResponse && isForbiddenNomination(error)) return matched;
    throw error;
  }
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).join(",");
  if (!(value instanceof Uint8Array)) return String(value);
  // A method of Node's buffers, which hold received fields; much faster than the portable way.
  const { latin1Slice } = value as { latin1Slice?: () => string };
  return latin1Slice === undefined ? String.fromCharCode(...value) : latin1Slice.call(value);
}
