/** Strips header fields in the forms in which Node and undici take and give them. */
import type { HeaderStripper } from "../headers/header-stripper.js";
import { isForbiddenNomination } from "./refusal.js";

/** Names and values: in turn, in pairs, or as an object. Names may be bytes, in turn. */
export type Fields =
  | readonly unknown[]
  | Iterable<readonly [string, unknown]>
  | Readonly<Record<string, unknown>>;

/** Fields of a form that may be read more than once. */
type Readable = readonly unknown[] | Readonly<Record<string, unknown>>;

/**
 * The fields without those whose name a rule matches: `fields` itself if there are none, else a copy.
 * An iterable of pairs may be read but once: of it there is always a copy, of names and values in turn.
 */
export function strippedFields<Given extends Fields>(
  stripper: HeaderStripper,
  fields: Given,
  isResponse: boolean,
): Given | readonly unknown[] | Record<string, unknown> {
  const isOther = !Array.isArray(fields) && Symbol.iterator in fields;
  const readable: Readable = isOther
    ? [...(fields as Iterable<unknown[]>)].flat()
    : (fields as Readable);
  const at = (index: number) => valueAt(readable, index);
  const doomed = doomedNames(stripper, namesOf(readable), at, isResponse);
  return withoutNames(readable, doomed);
}

/** The names of fields, as they are written. */
export function namesOf(fields: Readable): string[] {
  if (!isList(fields)) return Object.keys(fields);
  if (isPairs(fields)) return fields.map(([name]) => name);
  const names: string[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) names.push(textOf(fields[index]));
  return names;
}

/** The value of the field whose name is at `index` of {@link namesOf}. */
export function valueAt(fields: Readable, index: number): unknown {
  if (!isList(fields)) return fields[Object.keys(fields)[index]!];
  return isPairs(fields) ? fields[index]![1] : fields[2 * index + 1];
}

/** The fields without those of some names: `fields` itself if there are none. */
export function withoutNames(fields: Readable, doomed: readonly string[]): Readable {
  if (doomed.length === 0) return fields;
  if (!isList(fields)) {
    return Object.fromEntries(Object.entries(fields).filter(([name]) => !doomed.includes(name)));
  }
  if (isPairs(fields)) return fields.filter(([name]) => !doomed.includes(name));
  const names = namesOf(fields);
  return fields.filter((_, index) => !doomed.includes(names[index >> 1]!));
}

function isList(fields: Readable): fields is readonly unknown[] {
  return Array.isArray(fields);
}

function isPairs(fields: readonly unknown[]): fields is readonly (readonly [string, unknown])[] {
  return Array.isArray(fields[0]);
}

/**
 * The names that go, as they are written: those that a rule matches, and those that a `Connection` among
 * these nominates.
 *
 * @param at the value of the name at an index
 * @param isResponse whether a `Connection` that nominates a field for all recipients nominates nothing:
 * some servers nominate `Transfer-Encoding`, and a response cannot be refused once it is there
 * @throws {HedgerowError} `ERR_CONNECTION_OPTION` for such a `Connection` of a request
 */
export function doomedNames(
  stripper: HeaderStripper,
  names: readonly string[],
  at: (index: number) => unknown,
  isResponse: boolean,
): string[] {
  const doomed = names.filter((name) => stripper.matches(name));
  if (!doomed.some(isConnection)) return doomed;
  const raw = names.flatMap((name, index) => [name, textOf(at(index))]);
  try {
    const kept = new Set(stripper.stripRaw(raw).filter((_, index) => index % 2 === 0));
    return names.filter((name) => !kept.has(name));
  } catch (error) {
    if (isResponse && isForbiddenNomination(error)) return doomed;
    throw error;
  }
}

function isConnection(name: string): boolean {
  return name.length === 10 && name.toLowerCase() === "connection";
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).join(",");
  if (!(value instanceof Uint8Array)) return String(value);
  // Of Node's buffers, as what fields come in; much faster than what all bytes have.
  const { latin1Slice } = value as { latin1Slice?: () => string };
  return latin1Slice === undefined ? String.fromCharCode(...value) : latin1Slice.call(value);
}
