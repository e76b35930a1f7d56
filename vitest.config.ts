import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { configDefaults, defineConfig } from "vitest/config";

const built = new URL("js/snapshot/dist/", import.meta.url).pathname;

/** The packages' manifests, whose `exports` decide which files imports resolve to. */
const manifests = ["edge", "snapshot", "fleet", "cli"]
  .map((name) => readFileSync(new URL(`js/${name}/package.json`, import.meta.url), "utf8"))
  .join("");

const manifestsOf = () => manifests;

/** What runs all that documents say: part of `npm run docs`, and not of `npm test`. */
const DOCUMENTS = ["tests/docs/groups/*.test.ts"];

/** What tests the built site: part of `npm run site -- --test`, and not of `npm test`. */
const SITE = ["tests/site/*.test.ts"];

export default defineConfig({
  plugins: [
    {
      name: "cached-modules",
      // The key has the importing module and this file, but not the manifests.
      configureVitest: ({ experimental_defineCacheKeyGenerator: define }) => define(manifestsOf),
    },
  ],
  resolve: {
    // What the build adds to the sources of `@hedgerow/snapshot`, for tests that begin at one of these.
    alias: [
      { find: /^\.\.\/workers\/scripts\.js$/, replacement: `${built}workers/scripts.js` },
      { find: /^\.\/(decode|encode)-module\.js$/, replacement: `${built}wasm/$1-module.js` },
    ],
  },
  test: {
    // Keeps transformed modules between runs, in node_modules.
    experimental: { fsModuleCache: true },
    projects: [
      { extends: true, test: { name: "documents", include: DOCUMENTS } },
      { extends: true, test: { name: "site", include: SITE } },
      {
        extends: true,
        test: {
          name: "tests",
          include: ["js/*/test/**/*.test.ts", "tests/**/*.test.ts"],
          exclude: [...configDefaults.exclude, ...DOCUMENTS, ...SITE],
        },
      },
    ],
    // Node imports the package itself, like its users, which is faster than through Vite.
    server: { deps: { external: [/\/js\/snapshot\/dist\//] } },
    // Many wait: for servers that are slow, for processes that they start, and for the disk.
    maxWorkers: availableParallelism() + 2,
    // They share the processors with each other. With all trials, one test takes many minutes.
    testTimeout: process.env.HEDGEROW_TRIALS === "all" ? 1_800_000 : 600_000,
    hookTimeout: 600_000,
  },
});
