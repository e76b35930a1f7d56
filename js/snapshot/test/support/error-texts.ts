/** Finds every text in an error, to search it for secrets. */
import { inspect } from "node:util";

/** Returns every text that is reachable from an error: in its properties, its stack and its causes. */
export function textsIn(error: unknown): string {
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
