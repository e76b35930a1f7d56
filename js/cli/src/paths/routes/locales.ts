import type { Json } from "../../files/json.js";
import { eitherCase } from "./keys.js";

/** The locales of a Next.js site with the Pages Router, which may prefix its paths. */
export class Locales {
  readonly #names: readonly string[];
  /** Prefixes of page paths; the first is empty. */
  readonly prefixes: readonly string[];
  /** Prefixes of any path, including files; the first is empty. */
  readonly defaultPrefixes: readonly string[];

  /** @param i18n the member of `routes-manifest.json`, which may be missing */
  constructor(i18n: Json) {
    this.#names = i18n
      .get("locales")
      .items()
      .map((locale) => locale.string());
    const hosts = [i18n, ...i18n.get("domains").items()];
    const defaults = hosts.flatMap((host) => host.get("defaultLocale").stringIfThere() ?? []);
    this.prefixes = prefixesOf(this.#names);
    this.defaultPrefixes = prefixesOf(defaults);
  }

  /** Returns a path as written and with its locale in lower case, since Next.js ignores the case of locales. */
  spellings(path: string): string[] {
    const rest = this.without(path, "");
    if (rest === undefined) return [path];
    const end = rest === "/" ? path.length : path.length - rest.length;
    return [path, path.slice(0, end).toLowerCase() + path.slice(end)];
  }

  /** Returns a path without the locale after its base path, or `undefined` if it has none. */
  without(path: string, base: string): string | undefined {
    for (const name of this.#names) {
      const start = `${base}/${name}`;
      if (path === start) return base || "/";
      if (path.startsWith(`${start}/`)) return base + path.slice(start.length);
    }
    return undefined;
  }
}

/** Returns the prefixes of locales, which match in any case. */
function prefixesOf(locales: readonly string[]): string[] {
  return [...new Set(["", ...locales.flatMap((locale) => eitherCase(`/${locale}`))])];
}
