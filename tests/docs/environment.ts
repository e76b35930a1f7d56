/** The environment of a document's shell: isolated from this repository and from the user who runs the tests. */
import { mkdirSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";

import { node24, root } from "../../scripts/lib/paths.mjs";
import { DISTRIBUTED_FILTER, pythonEnv } from "../../scripts/lib/python.mjs";
import { capture, PUBLISHED_BEFORE } from "../../scripts/lib/run.mjs";

/** npm's configuration on this machine. */
export interface NpmConfiguration {
  readonly registry: string;
  readonly cache: string;
  readonly userconfig: string;
}

let known: NpmConfiguration | undefined;

export function npmConfiguration(): NpmConfiguration {
  known ??= JSON.parse(capture("npm", ["config", "list", "--long", "--json"]) ?? "{}");
  if (!known?.registry) throw new Error("npm has no registry configured");
  return known;
}

/** Variables that a machine may need to reach the network. */
const KEPT = /^(https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|LANG|LC_ALL|TZ)$/i;

/** Documents run on the oldest supported Node; Wrangler needs a newer one. */
const needsNewerNode = (text: string) => /\bwrangler\b/.test(text);

export function environmentFor(text: string, home: string, registry: URL): NodeJS.ProcessEnv {
  const { cache, userconfig } = npmConfiguration();
  const kept = Object.entries(process.env).filter(([name]) => KEPT.test(name));
  return {
    ...Object.fromEntries(kept),
    // What the document's `pip install` would install.
    ...(/\bpip install\b/.test(text) ? pythonEnv(DISTRIBUTED_FILTER) : {}),
    PATH: pathFor(text),
    HOME: home,
    TMPDIR: home,
    CI: "1",
    NO_COLOR: "1",
    // No update checks and no telemetry.
    DO_NOT_TRACK: "1",
    NEXT_TELEMETRY_DISABLED: "1",
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_SEND_METRICS: "false",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    npm_config_before: PUBLISHED_BEFORE,
    npm_config_registry: registry.href,
    npm_config_replace_registry_host: "never",
    npm_config_cache: sharedCache(home, cache),
    npm_config_userconfig: userconfig,
    npm_config_prefer_offline: "true",
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
    npm_config_loglevel: "error",
    // npm asks before it runs `create-hedgerow`; a reader agrees.
    npm_config_yes: "true",
  };
}

/** Returns a cache in `home` that has the downloads of npm's cache, but not the packages that `npm create` ran. */
function sharedCache(home: string, cache: string): string {
  const [own, shared] = [join(home, ".npm"), join(cache, "_cacache")];
  mkdirSync(own);
  mkdirSync(shared, { recursive: true });
  symlinkSync(shared, join(own, "_cacache"));
  return own;
}

function pathFor(text: string): string {
  const own = (process.env.PATH ?? "").split(delimiter).filter((path) => !path.startsWith(root));
  const node = needsNewerNode(text) ? dirname(node24) : dirname(process.execPath);
  return [node, ...own, "/usr/sbin", "/sbin"].join(delimiter);
}
