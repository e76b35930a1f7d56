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
 * A list has names and values in turn, as undici reads it. An iterable of pairs may be read but once: of
 * it there is always a copy, of that form.
 */
export function strippedFields<Given extends Fields>(
  stripper: HeaderStripper,
  fields: Given,
  isResponse: boolean,
): Given | readonly unknown[] | Record<string, unknown> {
  const isOther = !Array.isArray(fields) && Symbol.iterator in fields;
  const readable: Readable = isOther
    ? inTurn([...(fields as Iterable<readonly unknown[]>)])
    : (fields as Readable);
  const names = namesOf(readable, false);
  const at = (index: number) => valueAt(readable, index, false);
  const doomed = doomedNames(stripper, names, at, isResponse);
  return withoutNames(readable, doomed, false);
}

/** Names and values in turn, of pairs. Other things than pairs stay, for undici to refuse. */
function inTurn(pairs: readonly (readonly unknown[])[]): readonly unknown[] {
  if (!pairs.every(Array.isArray)) return [pairs];
  return pairs.flatMap((pair) => pair.slice(0, 2));
}

/**
 * The names of fields, as they are sent: HTTP/2 servers of Node take white space from their ends, and undici
 * and they put them in lower case, of letters outside of ASCII too.
 *
 * @param hasPairs whether fields are a list of pairs
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

/** The value of the field whose name is at `index` of {@link namesOf}. */
export function valueAt(fields: Readable, index: number, hasPairs = isPairs(fields)): unknown {
  if (!isList(fields)) return fields[Object.keys(fields)[index]!];
  return hasPairs ? (fields[index] as readonly unknown[])[1] : fields[2 * index + 1];
}

/** The fields without those of some names, as {@link namesOf} has them: `fields` itself if there are none. */
export function withoutNames(
  fields: Readable,
  doomed: readonly string[],
  hasPairs = isPairs(fields),
): Readable {
  if (doomed.length === 0) return fields;
  const names = namesOf(fields, hasPairs);
  const stays = (index: number) => !doomed.includes(names[index]!);
  if (hasPairs) {
    // Arrays, whatever stood for pairs: with another first one, Node would read names and values in turn.
    const kept = (fields as readonly (readonly unknown[])[]).filter((_, index) => stays(index));
    return kept.map((pair) => [pair[0], pair[1]]);
  }
  if (isList(fields)) return fields.filter((_, index) => stays(index >> 1));
  const kept = Object.fromEntries(Object.entries(fields).filter((_, index) => stays(index)));
  // What has a symbol for a name stays: Node's HTTP/2 keeps a list of sensitive fields there.
  for (const symbol of Object.getOwnPropertySymbols(fields)) {
    Object.assign(kept, { [symbol]: (fields as Record<symbol, unknown>)[symbol] });
  }
  return kept;
}

function isList(fields: Readable): fields is readonly unknown[] {
  return Array.isArray(fields);
}

/** Whether Node reads fields as a list of pairs: it looks at the first one. */
function isPairs(fields: Readable): boolean {
  return isList(fields) && Array.isArray(fields[0]);
}

/**
 * The names that go: those that a rule matches, and those that a `Connection` among these nominates.
 *
 * @param names in lower case, as {@link namesOf} has them
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
  if (!doomed.includes("connection")) return doomed;
  const raw = names.flatMap((name, index) => [name, textOf(at(index))]);
  try {
    const kept = new Set(stripper.stripRaw(raw).filter((_, index) => index % 2 === 0));
    return names.filter((name) => !kept.has(name));
  } catch (error) {
    if (isResponse && isForbiddenNomination(error)) return doomed;
    throw error;
  }
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map(textOf).join(",");
  if (!(value instanceof Uint8Array)) return String(value);
  // Of Node's buffers, as what fields come in; much faster than what all bytes have.
  const { latin1Slice } = value as { latin1Slice?: () => string };
  return latin1Slice === undefined ? String.fromCharCode(...value) : latin1Slice.call(value);
}
