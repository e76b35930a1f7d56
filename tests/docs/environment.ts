/** The environment of a document's shell: nothing of this repository, nor of whoever runs the tests. */
import { delimiter, dirname } from "node:path";

import { node24, root } from "../../scripts/lib/paths.mjs";
import { npmConfiguration } from "./npm.js";

/** What a machine needs to be told to reach a network at all. */
const KEPT = /^(https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(FILE|DIR)|LANG|LC_ALL|TZ)$/i;

/** The oldest Node that is promised runs documents; Wrangler needs a newer one. */
const needsNewerNode = (text: string) => /\bwrangler\b/.test(text);

export function environmentFor(text: string, home: string, registry: URL): NodeJS.ProcessEnv {
  const { cache, userconfig } = npmConfiguration();
  const kept = Object.entries(process.env).filter(([name]) => KEPT.test(name));
  return {
    ...Object.fromEntries(kept),
    PATH: pathFor(text),
    HOME: home,
    TMPDIR: home,
    CI: "1",
    NO_COLOR: "1",
    // Nothing asks for newer versions, or tells anyone that it runs.
    DO_NOT_TRACK: "1",
    NEXT_TELEMETRY_DISABLED: "1",
    WRANGLER_HIDE_BANNER: "true",
    WRANGLER_SEND_METRICS: "false",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    npm_config_registry: registry.href,
    npm_config_replace_registry_host: "never",
    npm_config_cache: cache,
    npm_config_userconfig: userconfig,
    npm_config_prefer_offline: "true",
    npm_config_audit: "false",
    npm_config_fund: "false",
    npm_config_update_notifier: "false",
    npm_config_loglevel: "error",
  };
}

function pathFor(text: string): string {
  const own = (process.env.PATH ?? "").split(delimiter).filter((path) => !path.startsWith(root));
  const node = needsNewerNode(text) ? dirname(node24) : dirname(process.execPath);
  return [node, ...own, "/usr/sbin", "/sbin"].join(delimiter);
}
