/** All that an error tells, for those who look for secrets in it. */
import { inspect } from "node:util";

/** Every text in an error: in its own properties and its stack, and in those of all that it leads to. */
export function allToldBy(error: unknown): string {
  const texts: string[] = [inspect(error, { depth: Infinity, showHidden: true, getters: true })];
  const seen = new Set<unknown>();
  const look = (value: unknown) => {
    if (typeof value === "string") texts.push(value);
    if (typeof value !== "object" || value === null || seen.has(value)) return;
    seen.add(value);
    for (const key of Reflect.ownKeys(value)) look(Reflect.get(value, key));
    if (value instanceof Map || value instanceof Set) for (const item of value) look(item);
  };
  look(error);
  return texts.join("\n");
}
