/** Reads `firebase.json`. */
import { dirname, resolve } from "node:path";

import { Json } from "../../files/json.js";
import { destinationOf, patternOfGlob } from "./patterns.js";
import { type HostReader, type HostRule, routesOfRules } from "./rules.js";

/** The paths that Firebase answers itself: its reserved URLs, and the associations of apps. */
const OWN_KEYS = [
  "/__/*",
  "/.well-known/assetlinks.json",
  "/.well-known/apple-app-site-association",
  "/apple-app-site-association",
];

/** Reads the redirects and rewrites of the sites that deploy the directory. */
export const readFirebase: HostReader = (at) => {
  const { file, text, directory, options } = at;
  const sites = sitesOf(Json.parse(text, file), file, directory);
  if (sites.some((site) => site.get("i18n").isThere)) options.warn(`${file}: i18n is not read`);
  const own = sites.length > 0 ? OWN_KEYS : [];
  const cleanUrls = sites.some((site) => site.get("cleanUrls").is(true));
  return { ...routesOfRules(sites.flatMap(rulesOf), at, own), cleanUrls };
};

/** Returns the sites that deploy a directory, including sites that name none. */
function sitesOf(config: Json, file: string, directory: string): Json[] {
  const hosting = config.get("hosting");
  const sites = hosting.isList ? hosting.items() : [hosting];
  return sites.filter((site) => {
    const folder = site.get("public").stringIfThere();
    return folder === undefined || resolve(dirname(file), folder) === resolve(directory);
  });
}

/** Returns the rules of redirects and rewrites. */
function rulesOf(site: Json): HostRule[] {
  const routes = [...site.get("redirects").items(), ...site.get("rewrites").items()];
  return routes.map((route) => {
    const destination = destinationOf(route.get("destination").stringIfThere());
    const regex = route.get("regex").stringIfThere();
    if (regex !== undefined) {
      // RE2 also writes a named group in this way.
      const pattern = () => regex.replaceAll("(?P<", "(?<");
      return { source: regex, pattern, destination };
    }
    // `glob` is the former name.
    const source = route.get(route.get("glob").isThere ? "glob" : "source").string();
    return { source, pattern: () => patternOfGlob(source), destination };
  });
}
