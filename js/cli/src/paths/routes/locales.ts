import type { Json } from "../../files/json.js";
import { eitherCase } from "./keys.js";

/** The locales of a Next.js site with the Pages Router, which paths may begin with. */
export class Locales {
  readonly #names: readonly string[];
  /** What paths of pages may begin with; first nothing. */
  readonly prefixes: readonly string[];
  /** What any path may begin with, be it of a file; first nothing. */
  readonly defaultPrefixes: readonly string[];

  /** @param i18n the member of `routes-manifest.json`, there or not */
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

  /** A path without the locale that comes after a base path; `undefined` if none does. */
  without(path: string, base: string): string | undefined {
    for (const name of this.#names) {
      const start = `${base}/${name}`;
      if (path === start) return base || "/";
      if (path.startsWith(`${start}/`)) return base + path.slice(start.length);
    }
    return undefined;
  }
}

/** Letters of either case match in a locale. */
function prefixesOf(locales: readonly string[]): string[] {
  return [...new Set(["", ...locales.flatMap((locale) => eitherCase(`/${locale}`))])];
}
