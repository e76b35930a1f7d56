import presets from "../../wasm/presets.js";
import { wrongType } from "../error.js";

/**
 * The name of a rule list that comes with this package.
 *
 * @useDeclaredType
 */
export type PresetName = keyof typeof presets;

/** The messages that a preset is for. */
export type PresetDirection = "requests" | "responses";

/**
 * Returns a rule list for a common platform. Pass it to `HeaderStripper`, alone or with others.
 *
 * - `"hop-by-hop"`: the fields that concern one connection only (RFC 9110 §7.6.1), without those that
 *   frame the body.
 * - `"hop-by-hop-reframed"`: all of them, `Transfer-Encoding`, `TE`, `Trailer` and `Upgrade` too. Only for a
 *   proxy that decodes the body and frames it anew; with any other it enables request smuggling.
 * - `"cloudflare"`: what Cloudflare adds to a request, and `cf-int-*`.
 * - `"vercel"`: what Vercel's proxy adds to a request.
 * - `"next"`: what the parts of a Next.js server send each other. A client that forges
 *   `x-middleware-subrequest` could skip the middleware (CVE-2025-29927). The list for responses keeps the
 *   fields that client navigation reads.
 *
 * @param direction the messages to strip (default: `"requests"`). Only `"next"` has another list for
 * `"responses"`.
 * @throws {HedgerowError} `ERR_ARGUMENT` if there is no preset of that name, or no such direction.
 *
 * @example
 * ```ts
 * import { preset } from "hedgerow";
 *
 * const headers = { requests: preset("next", "requests"), responses: preset("next", "responses") };
 * ```
 */
export function preset(name: PresetName, direction: PresetDirection = "requests"): string[] {
  const isName = typeof name === "string" && Object.hasOwn(presets, name);
  if (!isName) throw wrongType("the name of a preset", name);
  if (direction !== "requests" && direction !== "responses") {
    throw wrongType('"requests" or "responses"', direction);
  }
  const [requests, responses = requests] = presets[name];
  return [...(direction === "requests" ? requests : responses)];
}
