import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";

import { groupsToRun } from "./tests/docs/documents.js";

const built = fileURLToPath(new URL("js/snapshot/dist/", import.meta.url));

/** The packages' manifests, whose `exports` decide which files imports resolve to. */
const manifests = ["edge", "snapshot", "fleet", "cli"]
  .map((name) => readFileSync(new URL(`js/${name}/package.json`, import.meta.url), "utf8"))
  .join("");

const manifestsOf = () => manifests;

/** Runs the code of documents. `npm test` runs those that a change touches, `npm run verify -- docs` all. */
const DOCUMENTS = "tests/docs/groups";

/** Tests the built site, which only `npm run verify -- site` builds. */
const SITE = "tests/site/*.test.ts";

/** Takes minutes, so only `npm run verify -- trials` runs it. */
const VERIFY = "{js,tests}/**/*.verify.test.ts";

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
      {
        extends: true,
        test: {
          name: "documents",
          globalSetup: "scripts/lib/suites.mjs",
          include: groupsToRun().map((group) => `${DOCUMENTS}/${group}.test.ts`),
        },
      },
      { extends: true, test: { name: "site", include: [SITE] } },
      { extends: true, test: { name: "verify", include: [VERIFY] } },
      {
        extends: true,
        test: {
          name: "tests",
          include: ["js/*/test/**/*.test.ts", "tests/**/*.test.ts"],
          exclude: [...configDefaults.exclude, `${DOCUMENTS}/*`, SITE, VERIFY],
        },
      },
    ],
    // Node imports the package itself, like its users, which is faster than through Vite.
    server: { deps: { external: [/\/js\/snapshot\/dist\//] } },
    // Many wait: for servers that are slow, for processes that they start, and for the disk.
    maxWorkers: availableParallelism() + 2,
    reporters: ["default", "./scripts/lib/vitest-reporter.mjs"],
    // Tests that need more name their limit, and why.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
