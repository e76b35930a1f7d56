/** Reads `vercel.json`. */
import type { Json } from "../../files/json.js";
import { destinationOf, patternOfPath } from "./patterns.js";
import type { HostRule } from "./rules.js";

/** What Vercel answers itself. */
export const VERCEL_KEYS = ["/_vercel/*"];

/** Returns the rules of redirects and rewrites. */
export function rulesOfVercel(config: Json): HostRule[] {
  const routes = [...config.get("redirects").items(), ...config.get("rewrites").items()];
  return routes.map((route) => {
    const source = route.get("source").string();
    const destination = destinationOf(route.get("destination").string());
    return { source, pattern: () => patternOfPath(source), destination };
  });
}
