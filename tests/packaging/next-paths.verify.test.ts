/** Next.js apps of both routers, with a filter of their paths: it refuses no path that they answer without it. */
import { readdirSync, readFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";

import { startFilteredApp } from "./support/next.js";
import { TEST_TIMEOUT } from "./support/project.js";

type Options = Readonly<Record<string, unknown>>;
type Fields = Readonly<Record<string, string>>;

const I18N = { locales: ["en", "fr", "fr-CA"], defaultLocale: "en" };
const DOMAINS = [
  { domain: "site.example", defaultLocale: "en" },
  { domain: "fr.example", defaultLocale: "fr" },
];

const LOCALIZED: readonly Options[] = [
  { i18n: { ...I18N, domains: DOMAINS } },
  { i18n: { ...I18N, localeDetection: false } },
  { i18n: I18N },
  {},
];

/** Eight combinations, in which each two values of different options occur together. */
const COMBINATIONS = LOCALIZED.flatMap((localized, index) =>
  [0, 1].map((flip) => ({
    ...localized,
    ...(flip === 0 && { basePath: "/base" }),
    ...((index & 1) === flip && { assetPrefix: "/cdn" }),
    ...(index >> 1 === flip && { trailingSlash: true }),
  })),
);

const PAGES = [
  ...["/", "/about", "/blog/first", "/blog/second", "/user/7", "/api/hello", "/index", "/404"],
  ...["/first", "/alias/first", "/last/a/b", "/moved", "/moved/first", "/nowhere"],
  ...["/robots.txt", "/docs/guide.txt", "/_next/image?url=%2Frobots.txt&w=64&q=75"],
];
const APP_PAGES = ["/app", "/app/items/one", "/app/items/two", "/route"];
const LOCALES = ["", "/en", "/fr", "/fr-ca", "/FR", "/de"];

const CLIENTS: readonly Fields[] = [{}, { host: "fr.example", "accept-language": "fr" }];

/** Returns the paths to ask for: those of pages in all locales, their data, and scripts. */
function targetsIn(folder: string): string[] {
  const build = readFileSync(join(folder, ".next/BUILD_ID"), "utf8");
  const below = (page: string) => LOCALES.map((locale) => (locale + page).replace(/(.)\/$/, "$1"));
  const pages = PAGES.flatMap(below);
  const data = pages.map((page) => `/_next/data/${build}${page === "/" ? "/index" : page}.json`);
  const files = readdirSync(join(folder, ".next/static"), { recursive: true, encoding: "utf8" });
  const scripts = files.filter((file) => file.endsWith(".js"));
  return [
    ...[...pages, ...APP_PAGES.flatMap(below), ...data],
    ...[...PAGES, ...APP_PAGES].map((page) => `${page}/`),
    ...APP_PAGES.map((page) => `${page}.rsc`),
    ...scripts.map((file) => `/_next/static/${encodeURI(file)}`),
  ];
}

/** Returns a function that requests a path, following redirects within the app, and returns the status. */
function asker(url: URL, agent: Agent) {
  return async function ask(path: string, fields: Fields, redirects = 4): Promise<number> {
    const [status, location] = await new Promise<[number, string | undefined]>(
      (resolve, reject) => {
        const to = { host: url.hostname, port: url.port, agent, path, headers: fields };
        get(to, (response) => {
          response.resume();
          resolve([response.statusCode!, response.headers.location]);
        }).on("error", reject);
      },
    );
    // A redirect that only adds or removes a slash answers for what it leads to.
    if (!location?.startsWith("/") || redirects === 0) return status;
    return ask(location, fields, redirects - 1);
  };
}

test.for<Options>(COMBINATIONS)(
  "a filter refuses no path that Next.js answers, with the options %j",
  { timeout: 2 * TEST_TIMEOUT },
  async (options) => {
    const { folder, url } = await startFilteredApp("next-paths", options);
    const agent = new Agent({ keepAlive: true, maxSockets: 4 });
    const ask = asker(url, agent);
    const counts = { answered: 0, missing: 0 };
    const refused: string[] = [];
    const compare = async (path: string, fields: Fields) => {
      const plain = await ask(path, fields);
      counts[plain === 404 ? "missing" : "answered"] += 1;
      const guarded = await ask(path, { ...fields, "x-guard": "on" });
      if (plain !== guarded) refused.push(`${path} of ${fields.host}: ${plain}, ${guarded}`);
    };
    const prefixes = new Set(["", options.basePath ?? "", options.assetPrefix ?? ""]);
    const targets = [...prefixes].flatMap((prefix) =>
      targetsIn(folder).map((path) => prefix + path),
    );
    for (const fields of CLIENTS) {
      await Promise.all(targets.map((target) => compare(target, fields)));
    }
    agent.destroy();
    expect(refused).toEqual([]);
    expect(counts.answered).toBeGreaterThan(50);
    expect(counts.missing).toBeGreaterThan(50);
  },
);
