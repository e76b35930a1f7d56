/** Reads `vercel.json`. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

import { Json } from "../../files/json.js";
import { readConfigRoutes } from "../routes/config-routes.js";
import { destinationOf, patternOfPath } from "./patterns.js";
import { type HostReader, type HostRule, routesOfRules } from "./rules.js";

/** The paths that Vercel answers itself. */
const OWN_KEYS = ["/_vercel/*"];

/** Reads redirects and rewrites, and the routes in the form of the Build Output API. */
export const readVercel: HostReader = (at) => {
  const { file, text, options } = at;
  const config = Json.parse(text, file);
  const warn = (message: string) => options.warn(`${file}: ${message}`);
  if (config.get("bulkRedirectsPath").isThere) warn("bulkRedirectsPath is not read");
  const functions = existsSync(join(dirname(file), "api")) ? ["/api/*"] : [];
  const routes = readConfigRoutes(config, { ...options, warn });
  const { keys, rewrites } = routesOfRules(rulesOf(config), at, [...OWN_KEYS, ...functions]);
  return {
    keys: [...keys, ...routes.keys],
    rewrites: [...routes.rewrites, ...rewrites],
    cleanUrls: config.get("cleanUrls").is(true),
  };
};

function rulesOf(config: Json): HostRule[] {
  const routes = [...config.get("redirects").items(), ...config.get("rewrites").items()];
  return routes.map((route) => {
    const source = route.get("source").string();
    const destination = destinationOf(route.get("destination").string());
    return { source, pattern: () => patternOfPath(source), destination };
  });
}
