import presets from "../../wasm/presets.js";
import { HedgerowError } from "../error.js";

/**
 * The name of a rule list that comes with this package.
 *
 * @useDeclaredType
 */
export type PresetName = keyof typeof presets;

/**
 * A rule list for a common platform, to be given to `HeaderStripper`, alone or with others.
 *
 * - `"hop-by-hop"`: the fields that concern one connection only (RFC 9110 §7.6.1), without those that
 *   frame the body.
 * - `"hop-by-hop-reframed"`: all of them, `Transfer-Encoding`, `TE`, `Trailer` and `Upgrade` too. Only for a
 *   proxy that decodes the body and frames it anew; with any other it enables request smuggling.
 * - `"cloudflare"`: what Cloudflare adds to a request, and `cf-int-*`.
 * - `"vercel"`: what Vercel's proxy adds to a request.
 * - `"next"`: what the parts of a Next.js server send each other; a client that forges
 *   `x-middleware-subrequest` could skip the middleware (CVE-2025-29927).
 *
 * @throws {HedgerowError} `ERR_ARGUMENT` if there is no preset of that name.
 */
export function preset(name: PresetName): string[] {
  const isName = typeof name === "string" && Object.hasOwn(presets, name);
  const rules = isName ? presets[name] : undefined;
  if (rules === undefined) {
    throw new HedgerowError("ERR_ARGUMENT", `expected the name of a preset, found ${String(name)}`);
  }
  return [...rules];
}
