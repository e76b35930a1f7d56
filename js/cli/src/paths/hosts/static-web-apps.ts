/** Reads `staticwebapp.config.json` of Azure Static Web Apps. */
import { Json } from "../../files/json.js";
import { ruleOf } from "./netlify.js";
import { type HostReader, type HostRule, routesOfRules } from "./rules.js";

/** The paths that Azure answers itself: functions and authentication. */
const OWN_KEYS = ["/api/*", "/.auth/*"];

/** Reads routes and fallbacks. */
export const readStaticWebApps: HostReader = (at) => {
  const rules = rulesOf(Json.parse(at.text, at.file));
  return { ...routesOfRules(rules, at, OWN_KEYS), cleanUrls: true };
};

/** Returns the rules of routes, and of the fallback for missing files. */
function rulesOf(config: Json): HostRule[] {
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
