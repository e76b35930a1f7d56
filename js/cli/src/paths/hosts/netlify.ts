/** Reads `netlify.toml`. */
import type { Json } from "../../files/json.js";
import type { RouteOptions } from "../routes/config-routes.js";
import { IGNORE_MIDDLEWARE } from "../routes/keys.js";
import { patternOfGlob } from "./patterns.js";
import { ruleOf } from "./redirects-file.js";
import type { HostRule } from "./rules.js";

/** What Netlify answers itself: functions, images and identity. */
export const NETLIFY_KEYS = ["/.netlify/*"];

/** Returns the rules of redirects, rewrites and edge functions. */
export function rulesOfNetlify(config: Json, { ignoreMiddleware }: RouteOptions): HostRule[] {
  const redirects = config
    .get("redirects")
    .items()
    .flatMap((redirect) => {
      const to = redirect.get("to").stringIfThere();
      return ruleOf(
        redirect.get("from").string(),
        to,
        redirect.get("status").numberIfThere() ?? 301,
      );
    });
  const edge = ignoreMiddleware ? [] : config.get("edge_functions").items();
  return [...redirects, ...edge.flatMap(rulesOfEdge)];
}

/** An edge function may answer any path that it is declared for. */
function rulesOfEdge(edge: Json): HostRule[] {
  const hint = IGNORE_MIDDLEWARE;
  return [
    ...strings(edge.get("path")).map((source) => ({
      source,
      pattern: () => patternOfGlob(source),
      hint,
    })),
    ...strings(edge.get("pattern")).map((source) => ({ source, pattern: () => source, hint })),
  ];
}

/** Returns a string or a list of strings; none if it is missing. */
function strings(json: Json): string[] {
  return json.isString ? [json.string()] : json.items().map((item) => item.string());
}
