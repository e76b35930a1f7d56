/** Conversions between the forms of header fields. */
import type { Field } from "./exchange.js";

/** Converts Node's flat list of names and values to pairs. */
export function pairsOf(raw: readonly string[]): Field[] {
  return Array.from({ length: raw.length / 2 }, (_, at) => [raw[2 * at]!, raw[2 * at + 1]!]);
}

/** Groups values by name, ignoring case. */
export function groupsOf(fields: readonly Field[]): Record<string, string[]> {
  const groups = new Map<string, string[]>();
  const names = new Map<string, string>();
  for (const [name, value] of fields) {
    const lower = name.toLowerCase();
    if (!names.has(lower)) names.set(lower, name);
    const first = names.get(lower)!;
    groups.set(first, [...(groups.get(first) ?? []), value]);
  }
  return Object.fromEntries(groups);
}

/**
 * Returns fields as `Headers` lists them: names in lower case and sorted, one line for each name, but one for
 * each `Set-Cookie`. White space around commas is free to differ.
 */
export function joined(fields: readonly Field[]): Field[] {
  const lines = Object.entries(groupsOf(fields)).flatMap(([name, values]): Field[] => {
    const lower = name.toLowerCase();
    if (lower === "set-cookie") return values.map((value) => [lower, value]);
    return [
      [
        lower,
        values
          .join(",")
          .replace(/[ \t]*,[ \t]*/g, ",")
          .trim(),
      ],
    ];
  });
  return lines.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

/** Returns fields without the given names, which are in lower case. */
export function without(fields: readonly Field[], names: ReadonlySet<string>): Field[] {
  return fields.filter(([name]) => !names.has(name.toLowerCase()));
}
