/** Reads `netlify.toml`, and `_redirects`, which Cloudflare and others also use. */
import { Json } from "../../files/json.js";
import { IGNORE_MIDDLEWARE, pathOf } from "../keys.js";
import type { RouteOptions } from "../routes/config-routes.js";
import { destinationOf, patternOfGlob, patternOfSplat } from "./patterns.js";
import { type HostReader, type HostRule, routesOfRules } from "./rules.js";

/** The paths that Netlify answers itself: functions, images and identity. */
const OWN_KEYS = ["/.netlify/*"];

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
  return { ...routesOfRules(rules, at, isNetlify ? OWN_KEYS : []), cleanUrls: true };
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
export function ruleOf(from: string, to: string | undefined, status: number): HostRule[] {
  if (MISSING.has(status)) return [];
  const [path = ""] = pathOf(from).split(/[?#]/, 1);
  return [{ source: from, pattern: () => patternOfSplat(path), destination: destinationOf(to) }];
}

/** Reads `netlify.toml`. */
export const readNetlify: HostReader = (at) => {
  const rules = rulesOfConfig(Json.parseToml(at.text, at.file), at.options);
  return { ...routesOfRules(rules, at, OWN_KEYS), cleanUrls: true };
};

/** Returns the rules of redirects, rewrites and edge functions. */
function rulesOfConfig(config: Json, { ignoreMiddleware }: RouteOptions): HostRule[] {
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
