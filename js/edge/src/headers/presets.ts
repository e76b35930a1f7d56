import presets from "../../wasm/presets.js";
import { wrongType } from "../error.js";

/**
 * The name of a built-in rule list.
 *
 * @useDeclaredType
 */
export type PresetName = keyof typeof presets;

/** The kind of message that a preset strips. */
export type PresetDirection = "requests" | "responses";

/**
 * Returns a built-in rule list. Pass it to `HeaderStripper`, alone or together with other rules.
 *
 * - `"hop-by-hop"`: the fields that concern one connection only (RFC 9110 §7.6.1), except those that frame
 *   the body.
 * - `"hop-by-hop-reframed"`: the same, and `Transfer-Encoding`, `TE`, `Trailer` and `Upgrade`. Use it only in
 *   a proxy that decodes the body and frames it again; in any other it enables request smuggling.
 * - `"cloudflare"`: the fields that Cloudflare adds to requests, including those of Access, of mTLS and of
 *   Managed Transforms, and `cf-int-*`.
 * - `"vercel"`: the fields that Vercel's proxy adds to requests.
 * - `"next"`: the internal fields of Next.js. A forged `x-middleware-subrequest` could skip the middleware
 *   (CVE-2025-29927). The list for requests keeps the fields that the client of Next.js sends, such as
 *   `x-middleware-prefetch`; the one for responses keeps those that client navigation reads.
 *
 * @param direction the messages to strip. Default: `"requests"`. Only `"next"` has a separate list for
 * `"responses"`.
 * @throws {HedgerowError} `ERR_ARGUMENT` if the name or the direction is unknown
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
