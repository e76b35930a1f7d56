/** Reads the configuration file of each host. `_redirects` is also that of Cloudflare and others. */
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

import { Json } from "../../files/json.js";
import { IGNORE_MIDDLEWARE, pathOf } from "../keys.js";
import { type RouteOptions, readConfigRoutes } from "../routes/config-routes.js";
import { destinationOf, patternOfGlob, patternOfPath, patternOfSplat } from "./patterns.js";
import { type HostReader, type HostRule, routesOfRules } from "./rules.js";

/** The paths that Netlify answers itself: functions, images and identity. */
const NETLIFY_KEYS = ["/.netlify/*"];

/** A status, with an exclamation mark if the rule precedes files. */
const STATUS = /^(\d{3})!?$/;

const TARGET = /^(?:\/|[a-z][a-z\d+.-]*:)/i;

/** Statuses that say that a path does not exist. */
const MISSING = new Set([404, 410]);

/** Reads `_redirects`. */
export const readRedirects: HostReader = (at) => {
  const { file, text, options } = at;
  const rules = rulesOfLines(text, (message) => options.warn(`${file}: ${message}`));
  const isNetlify = rules.some(({ destination }) => destination?.startsWith("/.netlify/"));
  return { ...routesOfRules(rules, at, isNetlify ? NETLIFY_KEYS : []), cleanUrls: true };
};

/** Returns the rules of the lines `from [query …] to [status] [condition …]`. */
function rulesOfLines(text: string, warn: (message: string) => void): HostRule[] {
  return text.split("\n").flatMap((line, index) => {
    const [from = "", ...rest] = line
      .trim()
      .replace(/(?:^|\s)#.*$/, "")
      .split(/\s+/);
    if (from === "") return [];
    const to = rest.find((token) => TARGET.test(token));
    const status = rest
      .map((token) => STATUS.exec(token)?.[1])
      .find((found) => found !== undefined);
    if (!TARGET.test(from) || (to === undefined && status === undefined)) {
      warn(`line ${index + 1}: expected a path and where it leads; the filter lacks its paths`);
      return [];
    }
    return ruleOf(from, to, Number(status ?? 301));
  });
}

/** Returns the rule of a redirect or rewrite, unless its status says that the path does not exist. */
function ruleOf(from: string, to: string | undefined, status: number): HostRule[] {
  if (MISSING.has(status)) return [];
  const [path = ""] = pathOf(from).split(/[?#]/, 1);
  return [{ source: from, pattern: () => patternOfSplat(path), destination: destinationOf(to) }];
}

/** Reads `netlify.toml`. */
export const readNetlify: HostReader = (at) => {
  const rules = netlifyRules(Json.parseToml(at.text, at.file), at.options);
  return { ...routesOfRules(rules, at, NETLIFY_KEYS), cleanUrls: true };
};

/** Returns the rules of redirects, rewrites and edge functions. */
function netlifyRules(config: Json, { ignoreMiddleware }: RouteOptions): HostRule[] {
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

/** The paths that Vercel answers itself. */
const VERCEL_KEYS = ["/_vercel/*"];

/** Reads redirects and rewrites, and the routes in the form of the Build Output API. */
export const readVercel: HostReader = (at) => {
  const { file, text, options } = at;
  const config = Json.parse(text, file);
  const warn = (message: string) => options.warn(`${file}: ${message}`);
  if (config.get("bulkRedirectsPath").isThere) warn("bulkRedirectsPath is not read");
  const functions = existsSync(join(dirname(file), "api")) ? ["/api/*"] : [];
  const routes = readConfigRoutes(config, { ...options, warn });
  const { keys, rewrites } = routesOfRules(vercelRules(config), at, [...VERCEL_KEYS, ...functions]);
  return {
    keys: [...keys, ...routes.keys],
    rewrites: [...routes.rewrites, ...rewrites],
    cleanUrls: config.get("cleanUrls").is(true),
  };
};

function vercelRules(config: Json): HostRule[] {
  const routes = [...config.get("redirects").items(), ...config.get("rewrites").items()];
  return routes.map((route) => {
    const source = route.get("source").string();
    const destination = destinationOf(route.get("destination").string());
    return { source, pattern: () => patternOfPath(source), destination };
  });
}

/** The paths that Firebase answers itself: its reserved URLs, and the associations of apps. */
const FIREBASE_KEYS = [
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
  const own = sites.length > 0 ? FIREBASE_KEYS : [];
  const cleanUrls = sites.some((site) => site.get("cleanUrls").is(true));
  return { ...routesOfRules(sites.flatMap(firebaseRules), at, own), cleanUrls };
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
function firebaseRules(site: Json): HostRule[] {
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

/** The paths that Azure answers itself: functions and authentication. */
const AZURE_KEYS = ["/api/*", "/.auth/*"];

/** Reads routes and fallbacks. */
export const readStaticWebApps: HostReader = (at) => {
  const rules = azureRules(Json.parse(at.text, at.file));
  return { ...routesOfRules(rules, at, AZURE_KEYS), cleanUrls: true };
};

/** Returns the rules of routes, and of the fallback for missing files. */
function azureRules(config: Json): HostRule[] {
  const routes = config
    .get("routes")
    .items()
    .flatMap((route) => {
      const status = route.get("statusCode").numberIfThere();
      const [to] = ["rewrite", "redirect"].flatMap((name) => route.get(name).stringIfThere() ?? []);
      if (to === undefined && status === undefined) return [];
      return ruleOf(route.get("route").string(), to, status ?? 200);
    });
  const fallback = config.get("navigationFallback").get("rewrite").stringIfThere();
  const missing = config.get("responseOverrides").get("404");
  const status = missing.get("redirect").isThere ? 302 : 404;
  return [
    ...routes,
    ...(fallback === undefined ? [] : ruleOf("/*", fallback, 200)),
    ...ruleOf("/*", undefined, missing.get("statusCode").numberIfThere() ?? status),
  ];
}
